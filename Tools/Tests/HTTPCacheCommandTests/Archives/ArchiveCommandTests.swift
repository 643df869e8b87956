import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("pack, unpack and --seed", .timeLimit(.minutes(10))) struct ArchiveCommandTests {
  private let directory: ScratchFolder
  private let archive: String

  init() throws {
    directory = try ScratchFolder()
    archive = directory.path("content.hca")
  }

  private var cache: [String] { ["--dir", directory.path("cache")] }

  /// A folder with a response that is fresh now, one with a tag, and one without a recorded head.
  private func preCache() throws -> String {
    let folder = directory.path("PreCache")
    try write("PreCache/shipped.example/index.html", "<html>front</html>")
    try write("PreCache/shipped.example/a.txt", "plain")
    let now = Int(Date().timeIntervalSince1970)
    try write(
      "PreCache/seeds.jsonl",
      #"{"target":"http://shipped.example/","file":"shipped.example/index.html","status":200,"received":\#(now),"#
        + #""fields":[["Cache-Control","max-age=86400"],["Content-Type","text/html"]]}"#)
    return folder
  }

  private func write(_ name: String, _ text: String) throws {
    let file = URL(fileURLWithPath: directory.path(name))
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func run(_ arguments: String..., status: Int32 = 0) async -> CommandRun {
    let run = await CommandRun(arguments)
    #expect(run.status == status, "\(arguments): \(run.errors)")
    return run
  }

  @Test("a folder is packed, listed, verified and unpacked")
  func pack() async throws {
    let packed = await run("pack", archive, "--from", try preCache())
    #expect(packed.output.contains("2 responses"))
    let list = await run("ls", "--seed", archive, "--sort", "url")
    #expect(list.output.contains("http://shipped.example/ (seed)"))
    #expect(list.output.contains("https://shipped.example/a.txt (seed)"))
    #expect(await run("verify", "--archive", archive).output.contains(" responses checked: no damage"))
    // A shipped file answers more than one URL.
    #expect(await run("unpack", archive, directory.path("out")).output.contains(" responses"))
    #expect(directory.file("out/shipped.example/a.txt").bytes == Array("plain".utf8))
    _ = await run("pack", archive + "2", "--from", directory.path("out"))
    #expect(await run("ls", "--seed", archive + "2", "--json").output.contains("\"isSeed\":true"))
  }

  @Test("of several sources, the first that has a URL is packed")
  func severalSources() async throws {
    try write("first/shipped.example/a.txt", "first")
    let packed = await run("pack", archive, "--from", directory.path("first"), "--from", try preCache())
    #expect(packed.output.contains("2 responses"))
    _ = await run("unpack", archive, directory.path("out"))
    #expect(directory.file("out/shipped.example/a.txt").bytes == Array("first".utf8))
  }

  @Test("get answers from a seed without the origin, and says so")
  func get() async throws {
    let folder = try preCache()
    let got = await CommandRun.success(
      ["get", "http://shipped.example/", "-o", directory.path("out"), "--seed", folder] + cache)
    #expect(directory.file("out").bytes == Array("<html>front</html>".utf8))
    #expect(got.errors.contains("hit, fresh for") && got.errors.contains(", from a seed of 20"))
    await CommandRun.failure(
      .notStored, ["get", "http://127.0.0.1:9/a.txt", "--policy", "cache-only", "--seed", folder] + cache)
  }

  @Test("a seed answers stale if the origin cannot be reached, and gives way to a response of the origin")
  func origin() async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nCache-Control: max-age=60\r\n\r\nnew")
    let host = origin.base.replacing("http://", with: "").replacing(":", with: "_")
    try write("PreCache/\(host)/a.txt", "old")
    try write("PreCache/127.0.0.1_9/a.txt", "old")
    let arguments = ["-o", directory.path("out"), "--seed", directory.path("PreCache")] + cache
    let offline = await CommandRun.success(["get", "http://127.0.0.1:9/a.txt"] + arguments)
    #expect(directory.file("out").bytes == Array("old".utf8))
    #expect(offline.errors.contains("stale") && offline.errors.contains("from a seed of"))
    for _ in 0..<2 {
      let online = await CommandRun(["get", origin.base + "/a.txt"] + arguments)
      #expect(online.status == 0 && directory.file("out").bytes == Array("new".utf8), "\(online.errors)")
      #expect(!online.errors.contains("from a seed"))
    }
  }

  @Test("explain and stats tell of seeds")
  func explain() async throws {
    let folder = try preCache()
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    #expect(await CommandRun(["get", origin.base + "/"] + cache).status == 0)
    let explained = await CommandRun(["explain", "http://shipped.example/", "--seed", folder] + cache)
    #expect(
      explained.output.contains("Does a stored response ship with the program? yes"), "\(explained.output)")
    let stats = await CommandRun(["stats", "--seed", folder] + cache)
    #expect(stats.output.contains("seed        \(folder): 2 responses, made on 20"), "\(stats.output)")
  }

  @Test("the cache is packed, without cookies and private responses")
  func fromCache() async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=60\r\nSet-Cookie: secret=1\r\n\r\nok")
    let own = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: private, max-age=60\r\n\r\nmy")
    for url in [origin.base + "/a", own.base + "/b"] {
      #expect(await CommandRun(["get", url, "-o", directory.path("out")] + cache).status == 0)
    }
    let packed = await CommandRun(["pack", archive, "--from-cache"] + cache)
    #expect(packed.status == 0 && packed.output.contains("1 response,"), "\(packed.errors)")
    #expect(packed.errors.contains("1 response left out"))
    let bytes = String(decoding: try #require(directory.file("content.hca").bytes), as: UTF8.self)
    #expect(bytes.contains(origin.base + "/a") && !bytes.contains("secret=1"))
    await CommandRun.failure(.failure, ["pack", archive, "--from-cache", "--prefix", own.base] + cache)
  }

  @Test("chosen fields and parameters are not packed")
  func stripped() async throws {
    try write("PreCache/shipped.example/a.txt", "plain")
    try write(
      "PreCache/seeds.jsonl",
      #"{"target":"http://shipped.example/a?key=hidden","file":"shipped.example/a.txt","status":200,"#
        + #""fields":[["X-Key","hidden"],["Location","/b?key=hidden"]]}"#)
    _ = await run(
      "pack", archive, "--from", directory.path("PreCache"), "--strip-field", "x-key", "--strip-parameter",
      "key")
    let bytes = String(decoding: try #require(directory.file("content.hca").bytes), as: UTF8.self)
    #expect(!bytes.contains("hidden") && bytes.contains("http://shipped.example/a?key=removed"))
    _ = await run("pack", archive, "--from", "a", "--strip-field", "a b", status: ExitStatus.usage.rawValue)
  }

  @Test("bad archives, folders and options are told")
  func bad() async throws {
    try write("bad.hca", "not an archive")
    try write("bad/seeds.jsonl", "{")
    _ = await run("verify", "--archive", directory.path("bad.hca"), status: ExitStatus.failure.rawValue)
    _ = await run("verify", "--archive", archive, "--repair", status: ExitStatus.usage.rawValue)
    for path in ["bad.hca", "bad", "none"].map(directory.path(_:)) {
      _ = await run("ls", "--seed", path, status: ExitStatus.cacheUnavailable.rawValue)
      _ = await run("unpack", path, directory.path("out"), status: ExitStatus.cacheUnavailable.rawValue)
      _ = await run("pack", archive, "--from", path, status: ExitStatus.cacheUnavailable.rawValue)
    }
    _ = await run("pack", archive, status: ExitStatus.usage.rawValue)
    _ = await run("pack", archive, "--from", "a", "--prefix", "b", status: ExitStatus.usage.rawValue)
    let (folder, output) = (try preCache(), ExitStatus.output.rawValue)
    for name in ["none/content.hca", "none/out", "none/site.har"] {
      let place = directory.path(name)
      let arguments =
        name.hasSuffix(".hca") ? ["pack", place, "--from", folder] : ["unpack", folder, place]
      let refused = await CommandRun(arguments)
      #expect(refused.status == output)
      #expect(
        refused.errors.contains("httpcache: cannot write to \(place): its folder does not exist\n"),
        "\(refused.errors)")
    }
    let named = await run("pack", directory.path("none/"), "--from", folder, status: output)
    #expect(named.errors.contains("names a directory; name a file in it"), "\(named.errors)")
    _ = await run("unpack", folder, directory.path("new/"))
    let recording = directory.path("none/site.har")
    try write("serve.yaml", "upstream: http://127.0.0.1:1\nlisten: 127.0.0.1:0\n")
    let replay = await run(
      "serve", "--config", directory.path("serve.yaml"), "--check", "--replay", recording,
      status: ExitStatus.cacheUnavailable.rawValue)
    #expect(replay.errors.contains("there is no recording \(recording)"), "\(replay.errors)")
    _ = await run("unpack", try preCache(), directory.path, status: ExitStatus.output.rawValue)
  }

  @Test("serve answers from a seed")
  func serve() async throws {
    let serve = try await ServeProcess(["--forward", "--seed", try preCache()])
    let port = try await serve.port()
    let got = await CommandRun(
      ["get", "http://shipped.example/", "-x", "http://127.0.0.1:\(port)", "-o", directory.path("out")]
        + cache)
    #expect(got.status == 0, "\(got.errors) \(serve.errors.text)")
    #expect(directory.file("out").bytes == Array("<html>front</html>".utf8))
    #expect(await serve.terminate() == 0)
  }

  @Test("a HAR and a WARC file are unpacked, packed and served", arguments: ["site.har", "site.warc.gz"])
  func recordings(_ name: String) async throws {
    let file = directory.path(name)
    #expect(await run("unpack", try preCache(), file).output.contains("2 responses"))
    #expect(await run("pack", archive, "--from", file).output.contains(" responses"))
    _ = await run("unpack", archive, directory.path("out"))
    #expect(directory.file("out/shipped.example/a.txt").bytes == Array("plain".utf8))
    let got = await CommandRun(
      ["get", "http://shipped.example/", "-o", directory.path("got"), "--seed", file] + cache)
    #expect(got.status == 0 && got.errors.contains("from a seed"), "\(got.errors)")
  }

  @Test("serve --record writes the exchanges, and --replay answers them without the origin")
  func recordAndReplay() async throws {
    let file = directory.path("site.har")
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=secret\r\nX-Key: secret\r\nCache-Control: no-store\r\n\r\nok"
    )
    let recording = try await ServeProcess([
      "--upstream", origin.base, "--record", file, "--strip-field", "x-key", "--strip-parameter", "key",
    ])
    var base = "http://127.0.0.1:\(try await recording.port())"
    for path in ["/a", "/b?key=secret"] {
      #expect(await CommandRun(["get", base + path, "-o", directory.path("out")] + cache).status == 0)
    }
    #expect(await recording.terminate() == 0)
    #expect(recording.errors.text.contains("2 exchanges recorded in \(file)"))
    let text = String(decoding: try #require(directory.file("site.har").bytes), as: UTF8.self)
    #expect(!text.contains("secret") && text.contains(origin.base + "/a"))

    let replaying = try await ServeProcess([
      "--upstream", origin.base, "--replay", file, "--strip-parameter", "key",
    ])
    base = "http://127.0.0.1:\(try await replaying.port())"
    #expect(
      await CommandRun(["get", base + "/b?key=other", "-o", directory.path("again")] + cache).status == 0)
    #expect(directory.file("again").bytes == Array("ok".utf8))
    let unknown = await CommandRun(["get", base + "/c", "--fail", "-o", directory.path("none")] + cache)
    #expect(unknown.status != 0)
    _ = await CommandRun(["get", base + "/c", "-o", directory.path("refusal")] + cache)
    #expect(
      directory.file("refusal").bytes
        == Array("502 Bad Gateway: the recording has no usable response to this request\n".utf8))
    #expect(await replaying.terminate() == 0)
    #expect(replaying.errors.text.contains("nearest is GET \(origin.base)/"), "\(replaying.errors.text)")
    _ = await run("serve", "--forward", "--record", file, "--replay", file, status: ExitStatus.usage.rawValue)
    _ = await run(
      "serve", "--forward", "--record", file, "--dir", directory.path, status: ExitStatus.usage.rawValue)
  }

  @Test("a recorded redirect has no value of a stripped parameter, and is followed in the recording")
  func recordedLocation() async throws {
    let file = directory.path("site.har")
    let origin = try await ScriptedOrigin { request in
      request.line.hasPrefix("GET /from ")
        ? .init(head: "HTTP/1.1 302 Found\r\nLocation: /to?key=hidden&a=1#key=hidden\r\nContent-Length: 0")
        : .init(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8))
    }
    for option in ["--record", "--replay"] {
      let serve = try await ServeProcess([
        "--upstream", origin.base, option, file, "--strip-parameter", "key",
      ])
      let base = "http://127.0.0.1:\(try await serve.port())"
      let got = await CommandRun(["get", base + "/from", "-o", directory.path(option)] + cache)
      #expect(got.status == 0 && directory.file(option).bytes == Array("ok".utf8), "\(got.errors)")
      #expect(await serve.terminate() == 0)
    }
    #expect(origin.requests.map(\.line) == ["GET /from HTTP/1.1", "GET /to?key=hidden&a=1 HTTP/1.1"])
    let text = String(decoding: try #require(directory.file("site.har").bytes), as: UTF8.self)
    #expect(!text.contains("hidden") && text.contains("key=removed"), "\(text)")
  }
}
