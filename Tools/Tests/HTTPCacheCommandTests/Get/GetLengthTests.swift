import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `get` takes a file for whole at the length that is known, with and without a stored response.
@Suite(.timeLimit(.minutes(10))) struct GetLengthTests {
  private static let content = ServedFile.bytes(300_000)
  private static let stores = ["Cache-Control: no-store", "Cache-Control: max-age=60"]
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  /// Runs `get` once, which breaks off after some of 300,000 bytes; later requests get `instead`, or the file.
  private func withPart(
    _ fields: String, instead: @escaping @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Answer?,
    then body: (ScriptedOrigin) async throws -> Void
  ) async throws {
    let whole = ServedFile(content: Self.content, fields: fields)
    var first = whole
    (first.cut, first.awaitedFile) = (100_000, directory.path("out.httpcache-part/body"))
    let origin = try await ScriptedOrigin { [first] request in
      request.number == 0 ? first.answer(request) : instead(request) ?? whole.answer(request)
    }
    await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
    try await body(origin)
  }

  /// Runs `get` to its end, after another run.
  private func requireWhole(_ origin: ScriptedOrigin) async {
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(origin.requests.last?.start != nil)
    #expect(directory.file("out").bytes == Self.content)
  }

  private static func chunked(_ head: String, _ bytes: [UInt8]) -> ScriptedOrigin.Answer {
    let size = "\(String(bytes.count, radix: 16))\r\n"
    let chunk: [UInt8] = bytes.isEmpty ? [] : Array(size.utf8) + bytes + [13, 10]
    return ScriptedOrigin.Answer(
      head: head + "\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked", body: chunk + Array("0\r\n\r\n".utf8))
  }

  @Test(
    "a 200 without a length under the same strong validator is no shorter or longer file",
    arguments: stores, [50_000, 250_000, 350_000])
  func contradictions(fields: String, count: Int) async throws {
    try await withPart(fields) { request in
      request.number > 1 ? nil : Self.chunked("HTTP/1.1 200 OK\r\n\(fields)", ServedFile.bytes(count))
    } then: { origin in
      let run = await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
      #expect(run.errors.contains("under the validator of 300000 bytes; --policy reload"), "\(run.errors)")
      #expect(directory.file("out").bytes == nil)
      await requireWhole(origin)
    }
  }

  @Test("a reload takes the file with the other length", arguments: stores)
  func reload(fields: String) async throws {
    let other = ServedFile.bytes(250_000)
    try await withPart(fields) { _ in
      Self.chunked("HTTP/1.1 200 OK\r\n\(fields)", other)
    } then: { origin in
      await CommandRun.get(from: origin, in: directory, options: ["--policy", "reload"]).expectSuccess()
      #expect(directory.file("out").bytes == other)
    }
  }

  @Test("a rest with an unknown complete length ends where its Content-Range says", arguments: stores)
  func unknownLength(fields: String) async throws {
    try await withPart(fields) { request in
      guard request.number == 1, let start = request.start else { return nil }
      return Self.chunked(
        "HTTP/1.1 206 Part\r\nContent-Range: bytes \(start)-299999/*\r\n\(fields)",
        Array(Self.content[start..<250_000]))
    } then: { origin in
      await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
      #expect(directory.file("out").bytes == nil)
      await requireWhole(origin)
    }
  }

  @Test(
    "a 206 with more bytes than it says, or none, is asked once without a range, and none of its bytes stay",
    arguments: stores, [true, false])
  func useless(fields: String, isEmpty: Bool) async throws {
    try await withPart(fields) { request in
      guard let start = request.start else { return nil }
      return Self.chunked(
        "HTTP/1.1 206 Part\r\nContent-Range: bytes \(start)-299999/300000\r\n\(fields)",
        isEmpty ? [] : [UInt8](repeating: 9, count: 300_000))
    } then: { origin in
      await CommandRun.get(from: origin, in: directory).expectSuccess()
      #expect(directory.file("out").bytes == Self.content)
      #expect(origin.requests.map { $0.start != nil } == [false, true, false])
    }
  }

  private static func success(_ status: String, _ fields: String) -> ScriptedOrigin.Answer {
    ScriptedOrigin.Answer(
      head: "HTTP/1.1 \(status)\r\n\(fields)" + (status.hasPrefix("204") ? "" : "\r\nContent-Length: 0"))
  }

  @Test(
    "a success without the file in place of the rest gets one request without the range",
    arguments: stores, ["202 Accepted", "204 No Content", "205 Reset Content", "207 Multi-Status"])
  func otherSuccess(fields: String, status: String) async throws {
    try await withPart(fields) { request in
      request.start == nil ? nil : Self.success(status, fields)
    } then: { origin in
      await CommandRun.get(from: origin, in: directory).expectSuccess()
      #expect(directory.file("out").bytes == Self.content)
      #expect(origin.requests.map { $0.start != nil } == [false, true, false])
    }
  }

  @Test(
    "a success without the file to both requests is no file, and the part stays",
    arguments: stores, ["202 Accepted", "204 No Content"])
  func noFile(fields: String, status: String) async throws {
    try await withPart(fields) { request in
      request.number > 2 ? nil : Self.success(status, fields)
    } then: { origin in
      let run = await CommandRun.get(from: origin, in: directory).expect(.httpError)
      #expect(run.errors.contains("status \(status.prefix(3)) in place of the rest of the response"))
      #expect(directory.file("out").bytes == nil)
      await requireWhole(origin)
    }
  }

  @Test(
    "a 204 or 205 is no file, with a queue or without", arguments: ["204 No Content", "205 Reset Content"])
  func noContent(status: String) async throws {
    let origin = try await ScriptedOrigin { _ in Self.success(status, "Cache-Control: max-age=60") }
    let cache = ["--dir", directory.path("cache")]
    try directory.write("old".utf8, to: "out")
    let run = await CommandRun.get(from: origin, in: directory).expect(.httpError)
    #expect(run.errors.contains("has no content to save (RFC 9110 §15.3)"), "\(run.errors)")
    #expect(directory.file("out").bytes == Array("old".utf8))
    let queued = await CommandRun.failure(
      .httpError, ["get", origin.base + "/file", "-o", directory.path("new"), "--queue", "q"] + cache)
    #expect(queued.errors.contains("has no content to save (RFC 9110 §15.3)"), "\(queued.errors)")
    #expect(directory.file("new").bytes == nil)
    for options in [[], ["-o", "/dev/null"]] {
      await CommandRun.success(["get", origin.base + "/file"] + options + cache)
    }
  }

  @Test("a 206 of the whole that was not asked for has the bytes that it says")
  func unaskedRange() async throws {
    let origin = try await ScriptedOrigin { _ in
      Self.chunked(
        "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-299999/300000\r\nCache-Control: no-store",
        Array(Self.content.prefix(250_000)))
    }
    await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
    #expect(directory.file("out").bytes == nil)
  }
}
