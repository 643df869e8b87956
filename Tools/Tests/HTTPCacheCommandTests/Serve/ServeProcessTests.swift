import Foundation
import HTTPCacheLibC
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("serve as a process", .timeLimit(.minutes(10))) struct ServeProcessTests {
  private static let upstream = ["--upstream", "http://127.0.0.1:9"]
  private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  /// Sends a request and returns its answer, with the content that `Content-Length` tells of.
  private static func answer(to text: String, on client: RawPeer) async throws -> String {
    client.send(text)
    let head = try await client.receiveHead()
    let field = head.firstRange(of: "Content-Length: ")
    let length = field.flatMap { Int(head[$0.upperBound...].prefix(while: \.isNumber)) } ?? 0
    return head + (try await client.receive(count: length))
  }

  @Test("--admin: says where the listener is, and answers there")
  func admin() async throws {
    let serve = try await ServeProcess(["--upstream", "http://127.0.0.1:1", "--admin", "127.0.0.1:0"])
    try await serve.says("admin listener on http://127.0.0.1:")
    try await serve.says("\nhttpcache: admin listener")
    let line = try #require(serve.errors.lines.first { $0.contains("admin listener") })
    let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
    let answer = try await Self.answer(
      to: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", on: RawPeer.connect(port))
    #expect(answer.hasSuffix("ok\n"))
    #expect(await serve.terminate() == 0)
  }

  @Test("a server that ends leaves the address of --admin to the next one before its clients are served")
  func adminAddress() async throws {
    let origin = try await ScriptedOrigin { _ in nil }
    let arguments = ["--upstream", origin.base, "--grace", "3600", "--admin"]
    let first = try await ServeProcess(arguments + ["127.0.0.1:0"])
    let client = try RawPeer.connect(try await first.port())
    client.send(Self.request)
    await origin.arrived()
    let admin = "127.0.0.1:\(try await first.adminPort())"
    first.send(SIGTERM)
    try await first.says("ending")
    let second = try await ServeProcess(arguments + [admin])
    try await eventually { second.isEnded || second.count(of: "admin listener on http://\(admin)\n") > 0 }
    #expect(!first.isEnded && !second.isEnded, "\(second.errors.text)")
    first.send(SIGTERM)
    #expect(await first.end() == 130)
    second.send(SIGTERM)
    _ = await second.end()
  }

  #if os(Linux)
    @Test("the limit of descriptors is raised to the hard limit")
    func descriptorLimit() async throws {
      let serve = try await ServeProcess(Self.upstream, limit: "-S -n 64")
      _ = try await serve.port()
      let line = try #require(serve.limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
      let words = line.split(separator: " ")
      #expect(words[3] == words[4])
      #expect(words[3] != "64")
    }

    @Test("the threads that resolve names begin before the first request")
    func resolverThreads() async throws {
      let serve = try await ServeProcess(["--forward", "--allow-address", "127.0.0.0/8"])
      _ = try await serve.port()
      #expect(serve.threadNames.contains { $0.hasPrefix("SGLTN-TP-#") })
    }

    @Test("standard streams that are closed are opened before anything else gets their descriptors")
    func closedStreams() async throws {
      let serve = try await TestProcess(
        command: ["serve", "--listen", "127.0.0.1:0", "--disk", "0"] + Self.upstream, closes: true)
      try await eventually { try Self.port(of: serve) != nil }
      let client = try RawPeer.connect(try #require(try Self.port(of: serve)))
      #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 "))
      for descriptor in STDIN_FILENO...STDERR_FILENO { #expect(serve.file(of: descriptor) == "/dev/null") }
      serve.send(SIGTERM)
      #expect(await serve.end() == 0)
    }

    /// The port that a process listens on, as `/proc` shows it; nil before it listens.
    private static func port(of process: TestProcess) throws -> Int? {
      let files = (0..<64).compactMap { process.file(of: $0) }
      for line in try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n") {
        // The second column is address and port, the fourth the state (0A listens), the tenth the inode.
        let columns = line.split(separator: " ")
        guard columns.count > 9, columns[3] == "0A", files.contains("socket:[\(columns[9])]") else {
          continue
        }
        return columns[1].split(separator: ":").last.flatMap { Int($0, radix: 16) }
      }
      return nil
    }
  #endif

  @Test("a server whose address is in use changes nothing in the directory")
  func addressInUse() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    #expect(await CommandRun("config", "--dir", cache, "--capacity", "2M").status == 0)
    let first = try await ServeProcess(Self.upstream)
    let port = try await first.port()
    let run = await CommandRun(
      ["serve", "--listen", "127.0.0.1:\(port)", "--dir", cache, "--capacity", "1M"] + Self.upstream)
    #expect(run.status == ExitStatus.failure.rawValue)
    #expect(run.errors.contains("cannot listen on 127.0.0.1:\(port): "))
    let settings = await CommandRun("config", "--dir", cache, "--json")
    #expect(settings.output.contains("\"capacity\":2097152"), "\(settings.output)")
  }

  @Test("a limit of descriptors that leaves none for the event loops ends it with a message")
  func tooFewDescriptors() async throws {
    let serve = try await ServeProcess(Self.upstream, limit: "-n 20")
    #expect(await serve.end() == ExitStatus.failure.rawValue)
    try await serve.says("at most 20 files may be open, and at least")
  }

  @Test("without descriptors accepting pauses, is said once, and goes on when some are free")
  func descriptorsOut() async throws {
    let serve = try await ServeProcess(Self.upstream, limit: "-n 80")
    let port = try await serve.port()
    var clients = try (0..<100).map { _ in try RawPeer.connect(port) }
    try await serve.says("accepting no connections for now: the process is out of file descriptors")
    clients = []
    _ = clients
    let client = try RawPeer.connect(port)
    #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 "))
    try await serve.says("accepting connections again")
    #expect(serve.errors.lines.filter { $0.contains("accepting no") }.count == 1)
  }

  @Test("the second signal ends at once, whatever the first one waits for", arguments: [SIGTERM, SIGINT])
  func secondSignal(_ number: Int32) async throws {
    let origin = try await ScriptedOrigin { _ in nil }
    let serve = try await ServeProcess(["--upstream", origin.base, "--grace", "3600"])
    let client = try RawPeer.connect(try await serve.port())
    let upload = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    #expect(try await Self.answer(to: upload, on: client) == "HTTP/1.1 100 Continue\r\n\r\n")
    serve.send(number)
    try await serve.says("ending")
    serve.send(number)
    #expect(await serve.end() == 130)
  }

  @Test("signals that make other servers reload do not end it, and one to end does")
  func otherSignals() async throws {
    let serve = try await ServeProcess(Self.upstream)
    let port = try await serve.port()
    for number in [SIGHUP, SIGUSR1, SIGUSR2] { serve.send(number) }
    let client = try RawPeer.connect(port)
    #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 "))
    #expect(await serve.terminate() == 0)
  }

  @Test("pipes without a reader delay neither requests nor the end")
  func unreadPipes() async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    let full = [UInt8](repeating: 0, count: 4096)
    while write(ends[1], full, full.count) > 0 {}
    #expect(fcntl(ends[1], F_SETFL, 0) == 0)
    let serve = try await ServeProcess(Self.upstream, output: ends[1])
    let client = try RawPeer.connect(try await serve.port())
    #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 "))
    #expect(await serve.terminate() == 0)
  }

  @Test("requests that go on in the background do not disturb its end")
  func backgroundRequests() async throws {
    let origin = try await ScriptedOrigin { request -> ScriptedOrigin.Answer? in
      guard request.fields["if-none-match"] == nil else { return nil }
      return ScriptedOrigin.Answer(
        head: """
          HTTP/1.1 200 OK\r\nCache-Control: max-age=10, stale-while-revalidate=600\r\nAge: 100\r\n\
          ETag: "a"\r\nContent-Length: 2
          """, body: Array("hi".utf8), isHeld: true)
    }
    let serve = try await ServeProcess(["--upstream", origin.base])
    let client = try RawPeer.connect(try await serve.port())
    let targets = (0..<8).map { "/\($0)" }
    for target in targets + targets {
      let request = "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n"
      #expect(try await Self.answer(to: request, on: client).hasSuffix("hi"))
    }
    for _ in targets + targets { await origin.arrived() }
    #expect(await serve.terminate() == 0)
    #expect(serve.count(of: "ERROR") == 0, "\(serve.errors.text)")
  }

  @Test("a log file at the limit for the size of files ends nothing")
  func fullLogFile() async throws {
    let directory = try ScratchFolder()
    let serve = try await ServeProcess(
      Self.upstream + ["--access-log-file", directory.path("log")], limit: "-f 1")
    let client = try RawPeer.connect(try await serve.port())
    for _ in 1...40 {
      #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 "))
    }
    #expect(await serve.terminate() == 0)
    let count = directory.file("log").bytes?.count ?? 0
    #expect(count == 512 || count == 1024, "\(count)")
  }

  @Test("a log whose reader is gone ends nothing")
  func brokenPipe() async throws {
    let pipe = Pipe()
    let serve = try await ServeProcess(Self.upstream, output: pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForWriting.close()
    try pipe.fileHandleForReading.close()
    let client = try RawPeer.connect(try await serve.port())
    for _ in 1...3 { #expect(try await Self.answer(to: Self.request, on: client).hasPrefix("HTTP/1.1 502 ")) }
    #expect(await serve.terminate() == 0)
  }
}
