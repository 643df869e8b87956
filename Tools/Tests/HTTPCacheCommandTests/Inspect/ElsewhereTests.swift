import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// A response of a shared cache, looked for without `--shared`.
@Suite(.timeLimit(.minutes(10))) struct ElsewhereTests {
  private func withShared(_ body: (_ url: String, _ cache: String) async throws -> Void) async throws {
    let directory = try ScratchFolder()
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.page.rawValue
      let run = await CommandRun("get", url, "--shared", "--dir", directory.path("cache"))
      try #require(run.status == 0, "\(run.errors)")
      try await body(url, directory.path("cache"))
    }
  }

  @Test("explain with --dir explains the kind of cache that is stored there, and names it")
  func explain() async throws {
    try await withShared { url, cache in
      let run = await CommandRun("explain", url, "--dir", cache)
      #expect(run.output.contains("What is done? reuse, fresh"), "\(run.output)")
      #expect(run.errors.contains("explained as a shared cache"))
      let other = await CommandRun("explain", url + "?other", "--dir", cache)
      #expect(other.errors.contains("explained as a shared cache"))
      let own = await CommandRun("explain", url, "--dir", cache, "--private")
      #expect(own.output.contains("What is done? forward: nothing stored"))
      #expect(own.errors.contains("the directory has it as a shared cache (--shared)"), "\(own.errors)")
    }
  }

  @Test("purge of a partition with --dir is for both kinds of cache", arguments: [[], ["--soft"]])
  func partition(_ options: [String]) async throws {
    try await withShared { _, cache in
      let purge = ["purge", "--partition", "", "--dir", cache] + options
      let none = await CommandRun(purge + ["--private"])
      #expect(none.output.contains(" 0 responses") || none.output.contains("all matching"), "\(none.output)")
      #expect(await CommandRun("stats", "--dir", cache, "--json").output.contains("\"responses\":1"))
      #expect(await CommandRun(purge).status == 0)
      let list = await CommandRun("ls", "--dir", cache, "--json")
      #expect(list.output.isEmpty || list.output.contains("stale"), "\(list.output)")
    }
  }

  @Test("show, path and ls say under which option it is", arguments: ["show", "path", "ls"])
  func look(command: String) async throws {
    try await withShared { url, cache in
      let run = await CommandRun.failure(.failure, command, url, "--dir", cache, "--private")
      #expect(run.output.isEmpty)
      #expect(run.errors.contains("the directory has it as a shared cache (--shared)"), "\(run.errors)")
    }
  }

  @Test("purge removes nothing of the other kind of cache, and says where the response is")
  func purge() async throws {
    try await withShared { url, cache in
      for arguments in [[url], ["--all"], ["--prefix", "http://"]] {
        let run = await CommandRun(["purge"] + arguments + ["--dir", cache, "--private"])
        #expect(run.output.contains("removed 0 responses"), "\(run.output)")
        #expect(run.errors.contains("(--shared)"), "\(run.errors)")
      }
      let shared = await CommandRun("purge", url, "--dir", cache, "--shared")
      #expect(shared.output.contains("removed 1 response"))
    }
  }

  @Test(
    "RFC 9110 §4.2.3 a URL with dot segments is looked for, packed and removed as it is asked for",
    arguments: ["/a/../b", "/a/%2e%2e/b", "/./b", "/b/.", "/../b"])
  func dotSegments(path: String) async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { request in
      .init(head: "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2", body: Array("ok".utf8))
    }
    let cache = ["--dir", directory.path("cache")]
    let url = origin.base + path
    for url in [url, origin.base + "/b"] {
      let run = await CommandRun(["get", url, "-o", directory.path("out")] + cache)
      try #require(run.status == 0, "\(run.errors)")
    }
    let show = await CommandRun(["show", url] + cache)
    #expect(show.output.contains("HTTP 200"), "\(show.errors)")
    await CommandRun.success(["path", url, "--export", directory.path("copy")] + cache)
    let archive = directory.path("content.hca")
    await CommandRun.success(["pack", archive, "--from-cache", "--prefix", url] + cache)
    await CommandRun.success(
      "get", url, "--seed", archive, "--policy", "cache-only", "--dir", directory.path("other"))
    let purge = await CommandRun(["purge", url] + cache)
    #expect(purge.output == "removed 1 response\n", "\(purge.output)")
    #expect(await CommandRun(["show", origin.base + "/b"] + cache).status == 0, "another URL")
  }

  @Test("purge of a group with --dir and --private leaves the variants that are not of the group")
  func groupOfVariant() async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { request in
      let group = request.fields["accept-language"] == "de" ? "g" : "other"
      let fields = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\nCache-Groups: \"\(group)\""
      return ServedFile(content: Array("ok".utf8), tag: "", fields: fields).answer(request)
    }
    let cache = ["--dir", directory.path("cache")]
    for language in ["de", "en"] {
      let get = ["get", origin.base + "/a", "-H", "Accept-Language: \(language)", "-o", directory.path("a")]
      #expect(await CommandRun(get + cache).status == 0)
    }
    let run = await CommandRun(
      ["purge", "--group", "g", "--origin", origin.base, "--private"] + cache)
    #expect(run.output == "removed 1 response\n", "\(run.errors)")
    #expect(await CommandRun(["ls"] + cache).errors.contains("1 response"))
  }

  @Test("path --export writes the variant that was stored last", arguments: [["de", "en"], ["en", "de"]])
  func latestVariant(languages: [String]) async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { request in
      let content = Array((request.fields["accept-language"] ?? "").utf8)
      let fields = "Cache-Control: max-age=60\r\nVary: Accept-Language"
      return ServedFile(content: content, tag: "", fields: fields).answer(request)
    }
    let cache = ["--dir", directory.path("cache")]
    for language in languages {
      let get = ["get", origin.base + "/a", "-H", "Accept-Language: \(language)", "-o", directory.path("a")]
      #expect(await CommandRun(get + cache).status == 0)
    }
    await CommandRun.success(["path", origin.base + "/a", "--export", directory.path("copy")] + cache)
    #expect(directory.file("copy").bytes == languages.last.map { Array($0.utf8) })
  }

  @Test("ls of nothing prints nothing, and its status is 1")
  func nothing() async throws {
    try await withShared { _, cache in
      for option in [[], ["--json"]] {
        let run = await CommandRun(["ls", "http://nothing.example/", "--dir", cache] + option)
        #expect(run.status == 1)
        #expect(run.output.isEmpty && run.errors.isEmpty, "\(run.errors)")
      }
    }
  }
}
