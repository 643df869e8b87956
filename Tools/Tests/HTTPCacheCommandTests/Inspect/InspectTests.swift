import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Looking into a cache that `get` filled.
@Suite(.timeLimit(.minutes(10))) struct InspectTests {
  private struct Filled {
    let origin: DemoOrigin
    let directory: ScratchFolder
    let cache: String

    func url(_ resource: DemoResource) -> String { origin.base + resource.rawValue }
  }

  private func withFilledCache(_ body: (Filled) async throws -> Void) async throws {
    let directory = try ScratchFolder()
    try await DemoOrigin.withOrigin { origin in
      let filled = Filled(origin: origin, directory: directory, cache: directory.path("cache"))
      let run = await CommandRun(
        "get", filled.url(.page), filled.url(.image), filled.url(.api), "--dir", filled.cache)
      try #require(run.status == 0, "\(run.errors)")
      try await body(filled)
    }
  }

  @Test(
    "a directory without a cache is told, and not made",
    arguments: [
      ["ls"], ["show", "http://a/"], ["path", "http://a/"], ["explain", "http://a/"],
      ["purge", "--all"], ["stats"], ["verify"],
    ])
  func noCache(arguments: [String]) async throws {
    let directory = try ScratchFolder()
    let place = directory.path("nothing")
    let run = await CommandRun.failure(.cacheUnavailable, arguments + ["--dir", place])
    #expect(run.errors.contains("there is no cache in \(place)"))
    #expect(!directory.file("nothing").exists)
  }

  @Test("ls tells the variants of one URL apart, and says nothing of fields where there is one alone")
  func variants() async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nVary: Accept-Language, X-Kind\r\n"
        + "Cache-Control: max-age=60\r\n\r\nok")
    let url = origin.base + "/page"
    for (index, fields) in [["Accept-Language: de"], ["Accept-Language: en", "X-Kind: a"]].enumerated() {
      let cache = ["get", url, "--dir", directory.path("cache"), "-o", directory.path("out")]
      await CommandRun.success(cache + fields.flatMap { ["-H", $0] })
      let list = await CommandRun("ls", "--dir", directory.path("cache"))
      #expect(list.output.contains("{Accept-Language: de, X-Kind: (absent)}") == (index == 1))
      #expect(list.output.contains("{Accept-Language: en, X-Kind: a}") == (index == 1))
    }
  }

  @Test("ls lists entries, filtered and sorted")
  func list() async throws {
    try await withFilledCache { filled in
      let all = await CommandRun("ls", "--dir", filled.cache, "--json")
      #expect(all.output.split(separator: "\n").count == 3)
      let fresh = await CommandRun("ls", "--dir", filled.cache, "--fresh", "--sort", "size")
      let urls = fresh.output.split(separator: "\n").dropFirst().compactMap {
        $0.split(separator: " ").last.map(String.init)
      }
      #expect(urls == [filled.url(.page), filled.url(.image)])
      #expect(fresh.errors.contains("2 responses"))
      let stale = await CommandRun("ls", "--dir", filled.cache, "--stale", "--json")
      #expect(stale.output.contains("/api/status"))
      #expect(!stale.output.contains("/index.html"))
      let large = await CommandRun("ls", "--dir", filled.cache, "--larger-than", "100K", "--json")
      #expect(large.output.split(separator: "\n").count == 1)
      let prefix = await CommandRun("ls", filled.origin.base + "/api/", "--dir", filled.cache, "--json")
      #expect(prefix.output.split(separator: "\n").count == 1)
      let one = await CommandRun("ls", "--dir", filled.cache, "--limit", "1", "--json")
      #expect(one.output.split(separator: "\n").count == 1)
      let unused = await CommandRun("ls", "--dir", filled.cache, "--unused-for", "1d", "--json")
      #expect(unused.output.isEmpty)
    }
  }

  @Test("a time that cannot be is compared, and told", arguments: [Int64.min, -1, .max])
  func impossibleTime(seconds: Int64) {
    let since = Timestamp(seconds: 1_800_000_000).duration(since: Timestamp(seconds: seconds)).components
      .seconds
    #expect(seconds < 0 ? since > 1_800_000_000 : since < 0)
    #expect(!HumanText.duration(since).isEmpty)
  }

  @Test("show tells head, lifetime and size of one URL")
  func show() async throws {
    try await withFilledCache { filled in
      let run = await CommandRun.success("show", filled.url(.page), "--dir", filled.cache)
      #expect(run.output.contains("Cache-Control: max-age=600"))
      #expect(run.output.contains("lifetime    10 min (max-age, RFC 9111 §5.2.2.1)"))
      #expect(run.output.contains(" ago (or last confirmed)\nlast used   "), "\(run.output)")
      let json = await CommandRun("show", filled.url(.page), "--dir", filled.cache, "--json")
      #expect(json.output.contains(#""directives":["#))
      #expect(json.output.contains(#""lifetime":600"#))
      #expect(json.output.contains(#""windows":{}"#))
      await CommandRun.failure(.failure, "show", filled.origin.base + "/other", "--dir", filled.cache)
    }
  }

  @Test("path names a file with exactly the body, and exports a body that has none")
  func path() async throws {
    try await withFilledCache { filled in
      let image = await CommandRun.success("path", filled.url(.image), "--dir", filled.cache)
      let path = image.output.split(separator: "\n").first.map(String.init) ?? ""
      #expect(ScratchFile(path).bytes == DemoResource.image.block)
      let page = await CommandRun.failure(.failure, "path", filled.url(.page), "--dir", filled.cache)
      #expect(page.errors.contains("--export"))
      let copy = filled.directory.path("copy")
      let export = await CommandRun("path", filled.url(.page), "--dir", filled.cache, "--export", copy)
      #expect(export.status == 0)
      #expect(filled.directory.file("copy").bytes == DemoResource.page.block)
      await CommandRun.failure(.output, "path", filled.url(.page), "--dir", filled.cache, "--export", copy)
      let missing = filled.directory.path("none/copy")
      let refused = await CommandRun.failure(
        .output, "path", filled.url(.page), "--dir", filled.cache, "--export", missing)
      #expect(
        refused.errors.hasSuffix("httpcache: cannot write to \(missing): its folder does not exist\n"),
        "\(refused.errors)")
    }
  }

  @Test("explain tells every step by topic, and sends nothing")
  func explain() async throws {
    try await withFilledCache { filled in
      let before = filled.origin.meter.requests
      let run = await CommandRun.success("explain", filled.url(.page), "--dir", filled.cache)
      let topics = run.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
      #expect(topics == ["Request", "What is stored", "Variant", "Freshness", "Decision"])
      #expect(run.output.contains("  How long is it fresh? 600 s, from max-age (RFC 9111 §5.2.2.1)\n"))
      #expect(run.output.contains("  What is done? reuse, fresh for "))
      let asked = await CommandRun(
        "explain", filled.url(.page), "--request-header", "Cache-Control: no-cache", "--method",
        "HEAD", "--dir", filled.cache)
      #expect(
        asked.output.contains(
          "  Does its method allow that? yes: it answered GET, the request is HEAD (RFC 9111 §4)\n"))
      #expect(
        asked.output.hasSuffix(
          "  What is done? validate: no-cache in the request (RFC 9111 §5.2.1.4)\n"))
      let shared = await CommandRun.success("explain", filled.url(.page), "--shared", "--dir", filled.cache)
      #expect(shared.output.hasSuffix("  What is done? forward: nothing stored (RFC 9111 §4)\n"))
      let wrong = await CommandRun(
        "explain", filled.url(.page), "--method", "G E T", "--dir", filled.cache)
      #expect(wrong.status != 0)
      #expect(filled.origin.meter.requests == before)
    }
  }

  @Test("explain --json is one object with decision and steps")
  func explainJSON() async throws {
    try await withFilledCache { filled in
      let run = await CommandRun("explain", filled.url(.api), "--json", "--dir", filled.cache)
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
      let decision = try #require(object["decision"] as? [String: Any])
      #expect(decision["action"] as? String == "validate")
      #expect(decision["section"] as? String == "RFC 9111 §5.2.2.4")
      let steps = try #require(object["steps"] as? [[String: String]])
      #expect(steps.last?["question"] == "What is done?")
      #expect(steps.last?["topic"] == "Decision")
      #expect((object["refusals"] as? [Any])?.isEmpty == true)
    }
  }

  @Test("explain tells afterwards why a response was not stored")
  func refusal() async throws {
    try await withFilledCache { filled in
      let run = await CommandRun("get", filled.url(.document), "--dir", filled.cache)
      #expect(run.errors.contains("not stored: no-store"))
      let explained = await CommandRun.success("explain", filled.url(.document), "--dir", filled.cache)
      #expect(explained.output.contains("  What is done? forward: nothing stored (RFC 9111 §4)\n"))
      let last = try #require(explained.output.split(separator: "\n").last)
      #expect(last.hasPrefix("Last time it was not stored: "))
      #expect(last.hasSuffix(" GMT, status 200, no: no-store (RFC 9111 §5.2.2.5)"))
      let json = await CommandRun("explain", filled.url(.document), "--json", "--dir", filled.cache)
      #expect(json.output.contains("\"refusals\":[{\"status\":200,\"steps\":[{\"answer\":\"no: no-store\""))
      let other = await CommandRun("explain", filled.url(.page), "--dir", filled.cache)
      #expect(!other.output.contains("not stored"))
    }
  }

  @Test("purge counts removed responses; a removed response is fetched again")
  func purge() async throws {
    try await withFilledCache { filled in
      let one = await CommandRun("purge", filled.url(.page), "--dir", filled.cache)
      #expect(one.output == "removed 1 response\n")
      let none = await CommandRun("purge", filled.url(.page), "--dir", filled.cache)
      #expect(none.output == "removed 0 responses\n")
      let young = await CommandRun("purge", "--older-than", "1h", "--dir", filled.cache)
      #expect(young.output == "removed 0 responses\n")
      let rest = await CommandRun("purge", "--all", "--dir", filled.cache)
      #expect(rest.output == "removed 2 responses\n")
      let list = await CommandRun("ls", "--dir", filled.cache, "--json")
      #expect(list.output.isEmpty)
      let again = await CommandRun(
        "get", filled.url(.image), "--dir", filled.cache, "-o", filled.directory.path("1"))
      #expect(again.errors.contains("miss, stored"))
    }
  }

  @Test("purge --soft keeps the response and has it validated first")
  func softPurge() async throws {
    try await withFilledCache { filled in
      let purge = await CommandRun.success(
        "purge", "--prefix", filled.origin.base, "--soft", "--dir", filled.cache)
      #expect(purge.output.hasPrefix("expired "))
      let fresh = await CommandRun("ls", "--fresh", "--dir", filled.cache, "--json")
      #expect(fresh.output.isEmpty)
      let all = await CommandRun("ls", "--dir", filled.cache, "--json")
      #expect(all.output.split(separator: "\n").count == 3)
      let shown = await CommandRun("show", filled.url(.page), "--dir", filled.cache)
      #expect(
        shown.output.contains("lifetime    10 min (max-age, RFC 9111 §5.2.2.1), ended by a soft purge\n"),
        "\(shown.output)")
      let explained = await CommandRun("explain", filled.url(.page), "--dir", filled.cache)
      #expect(
        explained.output.contains("ended by a soft purge, else 600 s, from max-age (RFC 9111 §5.2.2.1)"),
        "\(explained.output)")
    }
  }

  @Test("stats count hits and misses over processes")
  func stats() async throws {
    try await withFilledCache { filled in
      _ = await CommandRun("get", filled.url(.page), "--dir", filled.cache, "-o", filled.directory.path("1"))
      let run = await CommandRun("stats", "--dir", filled.cache, "--json")
      #expect(run.output.contains("\"hits\":1,"))
      #expect(run.output.contains("\"misses\":3,"))
      #expect(run.output.contains("\"responses\":3,"))
    }
  }

  @Test("verify finds a body that was changed, and --repair removes it")
  func verify() async throws {
    try await withFilledCache { filled in
      let sound = await CommandRun("verify", "--dir", filled.cache)
      #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
      let found = await CommandRun("path", filled.url(.image), "--dir", filled.cache)
      let path = found.output.split(separator: "\n").first.map(String.init) ?? ""
      var bytes = try #require(FileManager.default.contents(atPath: path))
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: URL(filePath: path))
      await CommandRun.failure(.failure, "verify", "--dir", filled.cache)
      await CommandRun.success("verify", "--repair", "--dir", filled.cache)
      await CommandRun.success("verify", "--dir", filled.cache)
      let list = await CommandRun("ls", "--dir", filled.cache, "--json")
      #expect(!list.output.contains("/image.png"))
    }
  }

  @Test("verify tells that a damaged index was replaced", arguments: [0, 100])
  func verifyIndex(_ length: Int) async throws {
    try await withFilledCache { filled in
      try Data(repeating: 65, count: length).write(to: URL(filePath: filled.cache + "/Cache.db"))
      let damaged = await CommandRun("verify", "--dir", filled.cache)
      #expect(damaged.status == ExitStatus.failure.rawValue && damaged.output.contains("1 finding"))
      #expect(damaged.errors.contains("index"), "\(damaged.errors)")
      #expect(await CommandRun("verify", "--dir", filled.cache).status == 0)
    }
  }

  @Test("private and shared entries are told apart by the flags")
  func modes() async throws {
    try await withFilledCache { filled in
      let shared = await CommandRun("ls", "--shared", "--dir", filled.cache, "--json")
      #expect(shared.output.isEmpty)
      let mine = await CommandRun("ls", "--private", "--dir", filled.cache, "--json")
      #expect(mine.output.split(separator: "\n").count == 3)
    }
  }
}
