import ArgumentParser
import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `get` through a queue, and `downloads`.
@Suite(.timeLimit(.minutes(10))) struct QueueGetTests {
  private let directory: ScratchFolder
  private var cache: [String] { ["--dir", directory.path("cache")] }

  init() throws { directory = try ScratchFolder() }

  private func list(_ lines: String) throws -> [String] {
    ["--input-file", try directory.write(lines.utf8, to: "list")]
  }

  private func origin(
    _ content: [UInt8] = ServedFile.bytes(100_000), fields: String = "Cache-Control: max-age=86400"
  ) async throws -> ScriptedOrigin {
    let file = ServedFile(content: content, fields: fields)
    return try await ScriptedOrigin { file.answer($0) }
  }

  /// The arguments of `get` for `/a` of an origin through the queue `q`.
  private func get(_ origin: ScriptedOrigin, to file: String = "a", _ options: String...) -> [String] {
    ["get", "--queue", "q", origin.base + "/a", "-o", directory.path(file)] + options + cache
  }

  /// Puts a download that waits into the queue `q`.
  private func addWaiting(_ url: String, to file: String) async throws {
    let store = try HTTPCache.open(HTTPCache.Configuration(directory: directory.path("cache")))
    var configuration = DownloadQueue.Configuration()
    configuration.totalLimit = 0
    let queue = try DownloadQueue(
      name: "q", cache: store, upstream: ScriptedUpstream(), configuration: configuration)
    try queue.add(Download(url, to: directory.path(file)))
    await queue.close()
  }

  @Test("get with URLs leaves the other downloads of its queue waiting, and resume continues them")
  func others() async throws {
    let origin = try await origin()
    let options = ["--queue", "q"] + cache
    try await addWaiting(origin.base + "/other", to: "other")
    let run = await CommandRun.success(get(origin))
    #expect(!run.errors.contains("/other"), "\(run.errors)")
    #expect(origin.requests.map(\.line) == ["GET /a HTTP/1.1"])
    #expect(await CommandRun(["downloads"] + options).output.contains("waiting"))
    await CommandRun.success(["downloads", "resume"] + options)
    #expect(directory.file("other").bytes == ServedFile.bytes(100_000))
  }

  @Test("resume of one download leaves the others of its queue waiting")
  func resumedAlone() async throws {
    let origin = try await origin()
    for name in ["a", "b"] { try await addWaiting("\(origin.base)/\(name)", to: name) }
    await CommandRun.success(["downloads", "resume", origin.base + "/b", "--queue", "q"] + cache)
    #expect(origin.requests.map(\.line) == ["GET /b HTTP/1.1"])
  }

  @Test("the URLs of a file become files with the names and in the folders that it says")
  func inputFile() async throws {
    let origin = try await origin()
    let options = try list(
      "\(origin.base)/a\n  dir=\(directory.path)\n\(origin.base)/b\n  dir=\(directory.path)\n  out=other\n")
    let run = await CommandRun.success(["get"] + options + cache)
    #expect(directory.file("a").bytes == ServedFile.bytes(100_000))
    #expect(directory.file("other").bytes == ServedFile.bytes(100_000))
    #expect(run.errors.contains("\(origin.base)/a: 97.7 KiB to \(directory.path("a"))\n"), "\(run.errors)")
  }

  @Test("a file without a URL is told, and an error unless --queue names downloads to continue")
  func noURLs() async throws {
    let options = try list("# none\n\n") + cache
    let run = await CommandRun.failure(.failure, ["get"] + options)
    #expect(run.errors == "httpcache: no URLs in \(directory.path("list"))\n", "\(run.errors)")
    let named = await CommandRun(["get", "--queue", "q"] + options)
    #expect(named.status == 0 && named.errors == run.errors, "\(named.errors)")
  }

  @Test("folders that a file of URLs names are made, as by aria2c")
  func folders() async throws {
    let origin = try await origin()
    let options = try list("\(origin.base)/a\n  dir=\(directory.path("new/folder"))\n  out=below/a\n")
    await CommandRun.success(["get"] + options + cache)
    #expect(directory.file("new/folder/below/a").bytes == ServedFile.bytes(100_000))
  }

  @Test(
    "a file that two URLs would write is refused with its line, before anything is queued",
    arguments: ["out=a", "out=./a", "out=b/"])
  func conflicts(_ option: String) async throws {
    let lines = "http://127.0.0.1:1/x\n  dir=\(directory.path)\n  out=a\nhttp://127.0.0.1:1/y\n"
    let options = try list(lines + "  dir=\(directory.path)/.\n  \(option)\n")
    let run = await CommandRun.failure(.usage, ["get"] + options + cache)
    #expect(run.errors.contains("line 4: "), "\(run.errors)")
    let listed = await CommandRun(["downloads", "list", "--json"] + cache)
    #expect(!listed.output.contains("127.0.0.1:1"), "\(listed.output)")
  }

  @Test("a name from a URL gives way to a name of the file of URLs")
  func givesWay() async throws {
    let origin = try await origin()
    let options = try list(
      "\(origin.base)/x\n  dir=\(directory.path)\n  out=a\n\(origin.base)/a\n  dir=\(directory.path)/.\n")
    await CommandRun.success(["get"] + options + cache)
    #expect(directory.file("a").bytes != nil && directory.file("a-2").bytes != nil)
  }

  @Test(
    "options that a queue would leave out are refused",
    arguments: [["-o", "one"], ["-H", "Range: bytes=0-3"]])
  func leftOut(_ option: [String]) async throws {
    let options = try list("http://127.0.0.1:1/\n")
    await CommandRun.failure(.usage, ["get"] + options + option + cache)
  }

  @Test("-i with a file of URLs is refused with the name of the right option")
  func include() async throws {
    _ = try list("http://127.0.0.1:1/\n")
    let file = directory.path("list")
    let run = await CommandRun.failure(.usage, ["get", "-i", file] + cache)
    #expect(run.errors.contains("use --input-file \(file)"), "\(run.errors)")
  }

  @Test("--link makes the file a link to the body file of the cache")
  func link() async throws {
    let origin = try await origin()
    await CommandRun.success(["get", "--link", origin.base + "/a", "-o", directory.path("a")] + cache)
    var status = stat()
    #expect(lstat(directory.path("a"), &status) == 0 && status.st_nlink == 2)
    #expect(directory.file("a").bytes == ServedFile.bytes(100_000))
  }

  @Test("--min-free counts for the destination, too")
  func minimumFree() async throws {
    let origin = try await origin()
    let run = await CommandRun.failure(.output, get(origin, "--min-free", "1000000G"))
    #expect(run.errors.contains("\(1_000_000 << 30) stay free"), "\(run.errors)")
  }

  @Test("a download that is asked for again keeps its file, if the file is current")
  func again() async throws {
    let origin = try await origin()
    await CommandRun.success(get(origin))
    let run = await CommandRun.success(get(origin))
    #expect(run.errors.contains("\(directory.path("a")) is current"), "\(run.errors)")
    #expect(origin.requests.count == 1)
  }

  @Test(
    "a file with another digest than --checksum is not made, the status tells, and no byte of it is counted",
    arguments: [[], ["--segments", "2"]])
  func checksum(segments: [String]) async throws {
    let file = ServedFile(content: ServedFile.bytes(100_000), fields: "Cache-Control: max-age=86400")
    let origin = try await ScriptedOrigin { request in
      guard request.fields["range"] != nil else { return file.answer(request) }
      return ScriptedOrigin.Answer(
        head: "HTTP/1.1 206 Part\r\nContent-Length: 100000\r\nContent-Range: bytes 0-99999/100000\r\n"
          + "ETag: \(file.tag)", body: file.content)
    }
    let digest = String(repeating: "0", count: 64)
    let arguments = ["get", origin.base + "/a", "-o", directory.path("a"), "--checksum", "sha-256=\(digest)"]
    let run = await CommandRun.failure(.brokenProtocol, arguments + segments + cache)
    #expect(
      run.errors.contains("failed: the bytes have sha-256=")
        && run.errors.contains("; expected is sha-256=\(digest)\n"), "\(run.errors)")
    #expect(directory.file("a").bytes == nil)
    let listed = await CommandRun(["downloads", "--json"] + cache)
    #expect(listed.output.contains(#""received":0,"#), "\(listed.output)")
  }

  @Test("downloads counts the bytes of the part, also after a run that brought none")
  func listedBytes() async throws {
    var file = ServedFile(content: ServedFile.bytes(100_000), fields: "Cache-Control: no-store")
    (file.cut, file.awaitedFile) = (60_000, directory.path("a.httpcache-part/body"))
    let origin = try await ScriptedOrigin { [file] request in
      let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4"
      return request.number == 0
        ? file.answer(request) : ScriptedOrigin.Answer(head: busy, body: Array("busy".utf8))
    }
    for _ in 0..<2 {
      #expect(await CommandRun(get(origin, "--retry", "0")).status != 0)
      let count = try #require(directory.file("a.httpcache-part/body").bytes).count
      let listed = await CommandRun(["downloads", "--json", "--queue", "q"] + cache)
      #expect(count > 0 && listed.output.contains(#""received":\#(count),"#), "\(count): \(listed.output)")
    }
  }

  @Test("a failed download is reported with the status of its failure")
  func gone() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    let run = await CommandRun.failure(.httpError, get(origin))
    #expect(run.errors.contains("\(origin.base)/a: failed: 404 Not Found"), "\(run.errors)")
    await CommandRun.failure(.httpError, ["downloads", "resume", "--failed", "--queue", "q"] + cache)
    let help = await CommandRun("downloads", "--help")
    #expect(help.errors.contains("  2  the origin answered without the file"), "\(help.errors)")
  }

  @Test("a response that the cache does not store is an error without a file, which names -o")
  func notStored() async throws {
    let origin = try await origin(fields: "Cache-Control: no-store")
    let run = await CommandRun.failure(.notStored, ["get", "--queue", "q", origin.base + "/a"] + cache)
    #expect(run.errors.contains("; -o FILE writes it to a file\n"), "\(run.errors)")
  }

  @Test("--retry 0 tries a download once")
  func noRetry() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
    #expect(await CommandRun(get(origin, "--retry", "0")).status != 0)
    #expect(origin.requests.count == 1)
  }

  @Test("the arguments that name a queue again are words for a shell, with the file of the key")
  func shellWords() throws {
    let options = ["--dir", "/a b/it's", "--encryption-key-file", "/k.bin", "--shared"]
    let location = try CacheLocation.parse(options)
    #expect(
      QueueLocation.arguments(queue: "my films", location)
        == " --queue 'my films' --dir '/a b/it'\\''s' --encryption-key-file /k.bin --shared")
  }

  @Test("--json prints an event per line for each change of state")
  func json() async throws {
    let origin = try await origin()
    let run = await CommandRun.success(get(origin, "--json"))
    let events = try run.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    let last = try #require(events.last)
    #expect(last["event"] as? String == "done")
    #expect(last["source"] as? String == "fetched")
    #expect(last["received"] as? Int == 100_000)
    #expect(last["file"] as? String == directory.path("a"))
    #expect(Set(events.compactMap { $0["id"] as? String }).count == 1)
  }

  @Test("downloads lists, pauses, resumes, removes and clears")
  func downloads() async throws {
    let origin = try await origin()
    await CommandRun.failure(.output, get(origin, to: "missing/a"))
    let options = ["--queue", "q"] + cache
    let listed = await CommandRun(["downloads", "list"] + options)
    #expect(listed.output.contains("failed"), "\(listed.output) \(listed.errors)")
    #expect(
      listed.output.contains("\(origin.base)/a  \(directory.path("missing/a"))  the folder "),
      "\(listed.output)")
    try directory.makeFolder("missing")
    let resumed = await CommandRun.success(["downloads", "resume"] + options)
    let cleared = await CommandRun(["downloads", "clear"] + options)
    #expect(cleared.output == "removed 0 downloads\n", "\(cleared.output)")
    for errors in [resumed.errors, cleared.errors] {
      #expect(errors.contains("left out 1 failed download; --failed includes"), "\(errors)")
    }
    await CommandRun.success(["downloads", "resume", "--failed"] + options)
    #expect(directory.file("missing/a").bytes == ServedFile.bytes(100_000))
    #expect(await CommandRun(["downloads", "--json"] + options).output.contains(#""event":"done""#))
    #expect(await CommandRun(["downloads", "clear"] + options).output == "removed 1 download\n")
    #expect(await CommandRun(["downloads"] + options).errors.contains("the queue q is empty"))
    await CommandRun.failure(.failure, ["downloads", "remove", "beef"] + options)
    #expect(directory.file("missing/a").bytes != nil)
  }

  @Test("downloads list tells damage of the list, and resume that there is nothing to continue")
  func damagedList() async throws {
    let origin = try await origin()
    let options = ["--queue", "q"] + cache
    await CommandRun.success(get(origin))
    let nothing = await CommandRun(["downloads", "resume", "--queue", "other"] + cache)
    #expect(nothing.status == 0 && nothing.errors.contains("the queue other has no download"))
    try directory.write("damaged".utf8, to: "cache/downloads/q.list")
    let listed = await CommandRun.failure(.cacheUnavailable, ["downloads", "list"] + options)
    #expect(listed.errors.contains("q.list: 7 damaged bytes"), "\(listed.errors)")
  }

  @Test("a cancelled download stays in the list, and continues only when resume names it")
  func cancel() async throws {
    let origin = try await origin()
    let options = ["--queue", "q"] + cache
    _ = await CommandRun(get(origin, to: "missing/a"))
    let cancelled = await CommandRun(["downloads", "cancel", origin.base + "/a"] + options)
    #expect(cancelled.output == "cancelled 1 download\n", "\(cancelled.errors)")
    #expect(await CommandRun(["downloads"] + options).output.contains("cancelled"))
    try directory.makeFolder("missing")
    let others = await CommandRun(["downloads", "resume"] + options)
    #expect(others.status == 0 && directory.file("missing/a").bytes == nil, "\(others.errors)")
    let resumed = await CommandRun(["downloads", "resume", origin.base + "/a"] + options)
    #expect(resumed.status == 0 && directory.file("missing/a").bytes != nil, "\(resumed.errors)")
    let done = await CommandRun(["downloads", "cancel", origin.base + "/a"] + options)
    #expect(done.status == 0 && done.output == "cancelled 0 downloads\n", "\(done.output)")
  }

  @Test("a queue that another process runs is refused with an error that says what to do")
  func inUse() async throws {
    let origin = try await origin()
    let store = try HTTPCache.open(HTTPCache.Configuration(directory: directory.path("cache")))
    let queue = try DownloadQueue(name: "q", cache: store, upstream: ScriptedUpstream())
    let run = await CommandRun.failure(.failure, get(origin))
    #expect(
      run.errors.contains(
        "another process downloads with the queue q; end it, or use another one with --queue NAME"))
    #expect(await CommandRun(["downloads", "list", "--queue", "q"] + cache).status == 0)
    #expect(origin.requests.isEmpty)
    await queue.close()
  }

  @Test("without --queue, get takes the next queue while another process runs the first")
  func nextQueue() async throws {
    let origin = try await origin()
    let store = try HTTPCache.open(HTTPCache.Configuration(directory: directory.path("cache")))
    let queue = try DownloadQueue(name: "get", cache: store, upstream: ScriptedUpstream())
    let arguments = ["get", "--segments", "1", origin.base + "/a", "-o", directory.path("a")]
    await CommandRun.success(arguments + cache)
    #expect(await CommandRun(["downloads", "--queue", "get-2"] + cache).output.contains(origin.base + "/a"))
    await queue.close()
  }

  @Test("a file that a waiting download of another URL makes is refused with the ways out")
  func destinationInUse() async throws {
    let origin = try await origin()
    try await addWaiting(origin.base + "/a", to: "file")
    let arguments = ["get", "--queue", "q", origin.base + "/b", "-o", directory.path("file")] + cache
    let refused = await CommandRun.failure(.usage, arguments)
    #expect(
      refused.errors.contains("the download of \(origin.base)/a to \(directory.path("file")) has not ended"),
      "\(refused.errors)")
    #expect(refused.errors.contains("get --no-resume takes it out of the list"), "\(refused.errors)")
    await CommandRun.success(arguments + ["--no-resume"])
    #expect(origin.requests.map(\.line) == ["GET /b HTTP/1.1"])
  }

  @Test("--no-resume fetches the whole file again")
  func noResume() async throws {
    let origin = try await origin()
    let arguments = ["get", origin.base + "/a", "-o", directory.path("a"), "--no-resume"] + cache
    for _ in 0..<2 { #expect(await CommandRun(arguments).status == 0) }
    #expect(origin.requests.count == 2)
    #expect(origin.requests.allSatisfy { $0.fields["if-none-match"] == nil && $0.start == nil })
  }

  @Test(
    "options that a queue cannot fulfil are refused",
    arguments: [
      ["-I"], ["-d", "a"], ["-r", "0-1"], ["-X", "PUT"], ["-i"], ["--explain"], ["-w", "a"], ["-k"],
      ["--policy", "cache-only"], ["-m", "5"], ["--no-remote-time"],
    ])
  func refused(options: [String]) async {
    let run = await CommandRun.failure(
      .usage, ["get", "--queue", "q", "http://127.0.0.1:1/"] + options + cache)
    #expect(run.errors.contains("\(options[0] == "-m" ? "--max-time" : options[0]) does not go with a queue"))
  }
}
