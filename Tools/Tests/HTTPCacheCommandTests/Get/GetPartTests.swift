import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Part files that were cut, are complete, or belong to another response. (`PartFileTests` has what all doors share.)
@Suite(.timeLimit(.minutes(10))) struct GetPartTests {
  private static let content = ServedFile.bytes(50_000)
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  /// Makes the part file of a transfer that broke off, and returns its origin.
  private func brokenOff() async throws -> ScriptedOrigin {
    var file = ServedFile(content: Self.content, fields: "Cache-Control: no-store")
    let whole = file
    file.cut = 20_000
    let origin = try await ScriptedOrigin(file, whole)
    _ = await CommandRun.get(from: origin, in: directory)
    return origin
  }

  @Test("a part file that was cut is continued from its remaining bytes")
  func cut() async throws {
    let origin = try await brokenOff()
    #expect(truncate(directory.path("out.httpcache-part/body"), 5) == 0)
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(origin.requests.last?.start == 5)
    #expect(directory.file("out").bytes == Self.content)
  }

  /// Runs `get` again, with an answer to the first range instead of the rest.
  private func again(
    _ instead: @escaping @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Answer?
  ) async throws -> (CommandRun, [UInt8]?, [Int?]) {
    var file = ServedFile(content: Self.content, fields: "Cache-Control: no-store")
    let whole = file
    file.cut = 20_000
    let origin = try await ScriptedOrigin { [file] request in
      request.number == 0 ? file.answer(request) : instead(request) ?? whole.answer(request)
    }
    _ = await CommandRun.get(from: origin, in: directory)
    let run = await CommandRun.get(from: origin, in: directory)
    let part = directory.file("out.httpcache-part/body").bytes
    return (run, directory.file("out").bytes ?? part, origin.requests.map(\.start))
  }

  @Test(
    "an origin that answers a range with an error is asked once without it",
    arguments: ["400 Bad", "404 Not Found", "416 No", "501 Not Implemented", "503 Later", "304 Not Modified"])
  func rangeError(status: String) async throws {
    let (run, content, starts) = try await again { request in
      request.start == nil ? nil : ScriptedOrigin.Answer(head: "HTTP/1.1 \(status)\r\nContent-Length: 0")
    }
    #expect(run.status == 0, "\(run.errors)")
    #expect(content == Self.content)
    #expect(starts == [nil, 20_000, nil])
  }

  @Test("an error to both requests leaves the part, and is no file")
  func error() async throws {
    let (run, content, starts) = try await again { _ in
      ScriptedOrigin.Answer(head: "HTTP/1.1 500 Broken\r\nContent-Length: 2", body: Array("no".utf8))
    }
    #expect(run.status == ExitStatus.httpError.rawValue)
    #expect(content == Array(Self.content.prefix(20_000)))
    #expect(starts == [nil, 20_000, nil])
  }

  @Test("a 200 with a Content-Range is an error that names a way out, and leaves the part")
  func contradiction() async throws {
    let (run, content, _) = try await again { _ in
      ScriptedOrigin.Answer(
        head: "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Range: bytes 20000-20001/50000\r\nContent-Length: 2",
        body: Array("no".utf8))
    }
    #expect(run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(run.errors.contains("; --policy reload begins anew"), "\(run.errors)")
    #expect(content == Array(Self.content.prefix(20_000)))
  }

  @Test("in a queue, another length under the same strong validator is an error that names a way out")
  func contradictionInQueue() async throws {
    let fields = "Cache-Control: no-store"
    let first = ServedFile(content: Self.content, fields: fields, cut: 20_000)
    let other = ServedFile(content: Array(Self.content.prefix(10)), fields: fields, hasRanges: false)
    let origin = try await ScriptedOrigin(first, other)
    _ = await CommandRun.get(from: origin, in: directory)
    let run = await CommandRun.get(from: origin, in: directory, options: ["--queue", "test", "--retry", "0"])
      .expect(.brokenProtocol)
    #expect(
      run.errors.contains("under the validator of 50000 bytes; get --no-resume begins anew"), "\(run.errors)")
    await CommandRun.get(from: origin, in: directory, options: ["--queue", "test", "--no-resume"])
      .expectSuccess()
    #expect(directory.file("out").bytes == other.content)
  }

  /// Runs `get` twice: the first body comes directly and breaks off, then a redirect leads to another file.
  private func redirected(
    _ fields: String, to other: ServedFile
  ) async throws -> (run: CommandRun, requests: [ScriptedOrigin.Request]) {
    let first = ServedFile(
      content: Self.content, fields: fields, cut: 20_000,
      awaitedFile: directory.path("out.httpcache-part/body"))
    let origin = try await ScriptedOrigin { request in
      if request.line.contains(" /other ") { return other.answer(request) }
      if request.number == 0 { return first.answer(request) }
      return ScriptedOrigin.Answer(head: "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0")
    }
    _ = await CommandRun.get(from: origin, in: directory)
    return await (CommandRun.get(from: origin, in: directory), origin.requests)
  }

  @Test(
    "a part that came directly goes on at another URL that a redirect names, whatever the cache has",
    arguments: ["Cache-Control: no-store", "Cache-Control: max-age=60"],
    ["Cache-Control: no-store", "Cache-Control: max-age=60"])
  func laterRedirect(fields: String, otherFields: String) async throws {
    let other = ServedFile(content: Self.content, fields: otherFields)
    let (run, requests) = try await redirected(fields, to: other)
    #expect(run.status == 0, "\(run.errors)")
    let start = try #require(requests.last?.start)
    #expect(
      run.errors.contains(
        ": continued: \(HumanText.bytes(Int64(start))) from \(directory.path("out.httpcache-part")), "),
      "\(run.errors)")
    #expect(directory.file("out").bytes == Self.content)
    #expect(directory.file("out.httpcache-part/body").bytes == nil)
  }

  @Test("a redirect to another representation begins anew with one request for it")
  func laterRedirectToAnother() async throws {
    let other = ServedFile(content: Array(Self.content.reversed()), tag: "\"v2\"")
    let (run, requests) = try await redirected("Cache-Control: max-age=60", to: other)
    #expect(run.status == 0, "\(run.errors)")
    #expect(requests.filter { $0.line.contains(" /other ") }.map(\.start) == [nil])
    #expect(directory.file("out").bytes == other.content)
    #expect(directory.file("out.httpcache-part/body").bytes == nil)
  }

  @Test("a complete part file is validated by requesting its last byte")
  func complete() async throws {
    let origin = try await brokenOff()
    try directory.write(Self.content, to: "out.httpcache-part/body")
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(origin.requests.last?.start == 49_999)
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a queue continues the part of get without a queue")
  func queue() async throws {
    let origin = try await brokenOff()
    await CommandRun.get(from: origin, in: directory, options: ["--queue", "test"]).expectSuccess()
    #expect(origin.requests.map(\.start) == [nil, 20_000])
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a part of another URL is not continued")
  func otherURL() async throws {
    let origin = try await brokenOff()
    await CommandRun.get("/other", from: origin, in: directory).expectSuccess()
    #expect(origin.requests.last?.start == nil)
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a policy that forbids asking the origin leaves a part as it is, and reload begins anew")
  func policies() async throws {
    let origin = try await brokenOff()
    await CommandRun.get(from: origin, in: directory, options: ["--policy", "cache-only"]).expect(.notStored)
    #expect(directory.file("out.httpcache-part/body").bytes?.isEmpty == false)
    await CommandRun.get(from: origin, in: directory, options: ["--policy", "reload"]).expectSuccess()
    #expect(origin.requests.map(\.start) == [nil, nil])
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a rest that is shorter or longer than its range never passes for complete", arguments: [-1, 1])
  func wrongLength(change: Int) async throws {
    var file = ServedFile(content: Self.content, fields: "Cache-Control: no-store")
    file.cut = 20_000
    let origin = try await ScriptedOrigin { [file] request in
      if request.number == 0 { return file.answer(request) }
      let start = request.start ?? 0
      let rest = Array(Self.content[start...].dropLast(change < 0 ? 1 : 0)) + (change > 0 ? [0] : [])
      return .init(
        head: "HTTP/1.1 206 Part\r\nContent-Range: bytes \(start)-49999/50000\r\nETag: \"v1\"\r\n"
          + "Transfer-Encoding: chunked",
        body: Array("\(String(rest.count, radix: 16))\r\n".utf8) + rest + Array("\r\n0\r\n\r\n".utf8))
    }
    _ = await CommandRun.get(from: origin, in: directory)
    await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
    #expect(directory.file("out").bytes == nil)
  }
}
