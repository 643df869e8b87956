import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct CompressedTests {
  static let text = Array("hello hello hello\n".utf8)
  /// `text` as gzip.
  static let gzip: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 64, 144, 92, 0, 59, 124, 138, 223, 18,
    0, 0, 0,
  ]

  /// Answers with gzip if it is requested.
  private static func answer(_ request: String, _ body: [UInt8] = gzip) -> [UInt8] {
    let isCoded = request.lowercased().contains("accept-encoding: gzip")
    let (coding, body) = isCoded ? ("Content-Encoding: gzip\r\n", body) : ("", text)
    let head =
      "HTTP/1.1 200 OK\r\n\(coding)Vary: Accept-Encoding\r\nCache-Control: max-age=600\r\n"
      + "Content-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }

  private func bodies(
    _ runs: [[String]], answer: @escaping @Sendable (String) -> [UInt8]
  ) async throws -> (runs: [CommandRun], bodies: [[UInt8]?], requests: Int) {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { request, _ in answer(request) }
    var (ended, bodies): ([CommandRun], [[UInt8]?]) = ([], [])
    for (index, arguments) in runs.enumerated() {
      let file = directory.path("\(index)")
      ended.append(
        await CommandRun(
          ["get", "--dir", directory.path("cache"), origin.authority + "/", "-o", file] + arguments))
      bodies.append(directory.file("\(index)").bytes)
    }
    return (ended, bodies, origin.requests.count)
  }

  @Test("gzip is asked for and decoded, from the origin and from the cache")
  func decoded() async throws {
    let got = try await bodies([[], [], ["--compressed"]]) { Self.answer($0) }
    #expect(got.bodies == [Self.text, Self.text, Self.text])
    #expect(got.requests == 1)
    #expect(got.runs[1].errors.contains(": hit, fresh for "))
  }

  @Test("with the user's own Accept-Encoding the bytes stay coded; --no-compressed requests no coding")
  func raw() async throws {
    let got = try await bodies([["-H", "Accept-Encoding: gzip"], ["--no-compressed"]]) { Self.answer($0) }
    #expect(got.bodies == [Self.gzip, Self.text])
  }

  @Test("several gzip members are one body, without padding")
  func members() async throws {
    let got = try await bodies([[]]) { Self.answer($0, Self.gzip + Self.gzip + [0, 0, 0]) }
    #expect(got.bodies == [Self.text + Self.text])
  }

  @Test("--no-compressed uses no stored body in gzip, even without Vary; an own Accept-Encoding does")
  func noneAsked() async throws {
    let got = try await bodies([[], ["-H", "Accept-Encoding: gzip"], ["--no-compressed"], []]) { request in
      let isCoded = request.lowercased().contains("accept-encoding: gzip")
      let (coding, body) = isCoded ? ("Content-Encoding: gzip\r\n", Self.gzip) : ("", Self.text)
      let head = "HTTP/1.1 200 OK\r\n\(coding)Cache-Control: max-age=600\r\nContent-Length: \(body.count)"
      return Array("\(head)\r\n\r\n".utf8) + body
    }
    #expect(got.bodies == [Self.text, Self.gzip, Self.text, Self.text])
    #expect(got.requests == 2)
  }

  @Test("a range is not taken of a stored body in gzip")
  func range() async throws {
    let got = try await bodies([[], ["-r", "0-4"]]) { request in
      // No Vary, so that the store would answer with a part of the gzip.
      request.contains("Range: bytes=0-4")
        ? Array("HTTP/1.1 206 P\r\nContent-Range: bytes 0-4/18\r\nContent-Length: 5\r\n\r\nhello".utf8)
        : Array(
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nCache-Control: max-age=600\r\nContent-Length: 29\r\n\r\n"
            .utf8) + Self.gzip
    }
    #expect(got.bodies == [Self.text, Array("hello".utf8)])
  }

  @Test("many bytes come out in pieces, whatever the pieces that go in")
  func pieces() async throws {
    let member = Self.member([UInt8](repeating: 7, count: 60_000))
    let body = Array(repeatElement(member, count: 20).joined())
    let got = try await bodies([[]]) { Self.answer($0, body) }
    #expect(got.bodies.first??.count == 1_200_000)
    #expect(got.bodies.first??.allSatisfy { $0 == 7 } == true)
  }

  /// 60,000 bytes as gzip: one stored block, so that tests need no encoder (RFC 1951 §3.2.4 in RFC 1952).
  static func member(_ block: [UInt8]) -> [UInt8] {
    let header: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 1, 0x60, 0xEA, 0x9F, 0x15]
    return header + block + littleEndian(crc32(block)) + littleEndian(UInt32(block.count))
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
  }
}
