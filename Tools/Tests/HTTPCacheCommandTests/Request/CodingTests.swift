import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Deflate, brotli and zstd beside gzip (`CompressedTests`).
@Suite("RFC 9110 §8.4: content codings of get", .timeLimit(.minutes(10))) struct CodingTests {
  private static let text = CompressedTests.text
  private static let deflated: [UInt8] = [203, 72, 205, 201, 201, 87, 200, 64, 144, 92, 0]
  /// `text` in each coding, by the programs brotli and zstd.
  private static let coded: [ContentCoding: [UInt8]] = [
    .gzip: CompressedTests.gzip,
    .deflate: [0x78, 0x9C] + deflated + [0x40, 0xB5, 0x06, 0x87],
    .br: [0x8F, 0x08, 0x80] + text + [0x03],
    .zstd: [
      0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x6D, 0x00, 0x00, 0x38, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x20, 0x0A,
      0x01,
      0x00, 0x31, 0x4A, 0x11, 0xA3, 0xAA, 0x74, 0xCE,
    ],
  ]

  /// A frame of zstd with blocks that each stand for 128 KiB of one byte (RFC 8878 §3.1.1).
  private static func frame(blocks: Int, windowLog: UInt8 = 17) -> [UInt8] {
    let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, (windowLog - 10) << 3]
    return head
      + (0..<blocks).flatMap { number -> [UInt8] in
        let header = 131_072 << 3 | 1 << 1 | (number == blocks - 1 ? 1 : 0)
        return [0, 8, 16].map { UInt8(truncatingIfNeeded: header >> $0) } + [7]
      }
  }

  private func get(
    _ body: [UInt8], coding: String, path: String = "/", type: String = "text/plain", _ options: [String] = []
  ) async throws -> (run: CommandRun, body: [UInt8]?, request: String) {
    let directory = try ScratchFolder()
    let head =
      "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
    let origin = try await ScriptedOrigin { _, _ in Array(head.utf8) + body }
    let run = await CommandRun(
      ["get", "--dir", directory.path("cache"), origin.authority + path, "-o", directory.path("out")]
        + options)
    return (run, directory.file("out").bytes, origin.texts.first ?? "")
  }

  @Test("each coding is asked for and decoded", arguments: ContentCoding.allCases)
  func decoded(_ coding: ContentCoding) async throws {
    let got = try await get(#require(Self.coded[coding]), coding: coding.rawValue.uppercased())
    #expect(got.run.status == 0, "\(got.run.errors)")
    #expect(got.body == Self.text)
    #expect(got.request.contains("Accept-Encoding: gzip, deflate, br, zstd\r\n"))
  }

  @Test("deflate without the header of zlib is decoded too (RFC 9110 §8.4.1.2)")
  func deflateAlone() async throws {
    let got = try await get(Self.deflated, coding: "deflate")
    #expect(got.body == Self.text, "\(got.run.errors)")
  }

  @Test("several codings are removed in the order against that of the field; identity is none")
  func several() async throws {
    let once = try #require(Self.coded[.gzip])
    let stored = Self.rawFrame(once)
    let got = try await get(stored, coding: "gzip, identity, zstd")
    #expect(got.body == Self.text, "\(got.run.errors)")
  }

  /// A frame of zstd with one block as it is.
  private static func rawFrame(_ bytes: [UInt8]) -> [UInt8] {
    let header = bytes.count << 3 | 1
    return [0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3] + [0, 8, 16].map { UInt8(truncatingIfNeeded: header >> $0) }
      + bytes
  }

  @Test(
    "a coding that is not known stays, with all before it",
    arguments: ["compress", "gzip, compress", "br, x"])
  func unknown(_ coding: String) async throws {
    let bytes = try #require(Self.coded[.gzip])
    #expect(try await get(bytes, coding: coding).body == bytes)
  }

  @Test(
    "a file that has the coding itself stays as it is",
    arguments: [
      (ContentCoding.br, "/a.br", "text/plain"), (.zstd, "/a.tar.zst?x", "text/plain"),
      (.zstd, "/a", "application/zstd"), (.gzip, "/a.TGZ", "text/plain"),
      (.gzip, "/a.tar.gz", "text/plain"), (.gzip, "/a", "application/x-gzip"),
    ])
  func files(_ coding: ContentCoding, _ path: String, _ type: String) async throws {
    let bytes = try #require(Self.coded[coding])
    #expect(try await get(bytes, coding: coding.rawValue, path: path, type: type).body == bytes)
  }

  @Test(
    "what is not in the coding, or half of it, is a broken response and no file",
    arguments: ContentCoding.allCases)
  func broken(_ coding: ContentCoding) async throws {
    for body in [Array("plain text, no coding".utf8), Array(try #require(Self.coded[coding]).dropLast(8))] {
      let got = try await get(body, coding: coding.rawValue)
      #expect(got.run.status == ExitStatus.brokenProtocol.rawValue)
      #expect(
        got.run.errors.contains("the body is not the \(coding.rawValue) that its Content-Encoding says"))
      #expect(got.body == nil)
    }
  }

  @Test("an empty body has nothing to decode", arguments: ContentCoding.allCases)
  func empty(_ coding: ContentCoding) async throws {
    #expect(try await get([], coding: coding.rawValue).body == [])
  }

  @Test("with --no-compressed no coding is asked for, and none is removed")
  func raw() async throws {
    let bytes = try #require(Self.coded[.br])
    let got = try await get(bytes, coding: "br", ["--no-compressed"])
    #expect(got.body == bytes)
    #expect(!got.request.contains("Accept-Encoding"))
  }

  @Test("several frames of zstd are one body, with frames to skip (RFC 8878 §3.1)")
  func frames() async throws {
    let frame = try #require(Self.coded[.zstd])
    let skipped: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 2]
    let got = try await get(frame + skipped + frame + skipped, coding: "zstd")
    #expect(got.body == Self.text + Self.text, "\(got.run.errors)")
  }

  @Test("a small body that becomes a large one comes in pieces of 128 KiB")
  func pieces() async throws {
    let source = try DecodedSource(
      MessageBody(BodyBytes(Self.frame(blocks: 100))).source, from: .zstd)
    var (count, longest) = (0, 0)
    while let piece = try await source.next() {
      (count, longest) = (count + piece.count, max(longest, piece.count))
    }
    #expect(count == 100 * 131_072)
    #expect(longest <= 131_072)
  }

  @Test(
    "a window of more than 8 MiB is refused (RFC 9659)", arguments: [(23, true), (24, false), (31, false)])
  func window(_ log: UInt8, _ isTaken: Bool) async throws {
    let got = try await get(Self.frame(blocks: 1, windowLog: log), coding: "zstd")
    #expect((got.body?.count == 131_072) == isTaken)
    #expect((got.run.status == 0) == isTaken)
    #expect(got.run.errors.contains("needs a window of more than 8 MiB, the limit (RFC 9659)") != isTaken)
  }

  @Test(
    "bytes behind the content are a broken response and no file, as in curl",
    arguments: ContentCoding.allCases)
  func trailing(_ coding: ContentCoding) async throws {
    let body = try #require(Self.coded[coding])
    // A second stream is content in gzip and zstd alone.
    let isOneStream = coding == .deflate || coding == .br
    for rest in [Array("xyz".utf8)] + (isOneStream ? [body, [0, 0, 0]] : []) {
      let got = try await get(body + rest, coding: coding.rawValue)
      #expect(got.run.status == ExitStatus.brokenProtocol.rawValue)
      #expect(
        got.run.errors.contains("the body goes on after the end of its \(coding.rawValue) "),
        "\(got.run.errors)")
      #expect(got.body == nil)
    }
  }

  @Test("bytes behind the content that come later are none of it either", arguments: ContentCoding.allCases)
  func trailingPiece(_ coding: ContentCoding) throws {
    let decoder = try coding.makeDecoder()
    var input = BodyBytes(try #require(Self.coded[coding]))
    while !input.isEmpty || decoder.hasOutput { _ = try decoder.decode(&input) }
    #expect(decoder.isEnded)
    input = BodyBytes([1])
    #expect(throws: ContentCodingFailure.self) { try decoder.decode(&input) }
  }

  @Test("deflate without the header of zlib ends once, too")
  func trailingDeflate() async throws {
    #expect(try await get(Self.deflated + Self.deflated, coding: "deflate").body == nil)
  }

  @Test("more than four codings are refused, and --no-compressed leaves them")
  func limit() async throws {
    let coded = (0..<5).reduce(Self.text) { body, _ in Self.rawFrame(body) }
    let field = Array(repeating: "zstd", count: 5).joined(separator: ", ")
    let got = try await get(coded, coding: field)
    #expect(got.run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(
      got.run.errors.contains("the body has 5 content codings, more than the limit of 4; --no-compressed"))
    #expect(got.body == nil)
    #expect(try await get(coded, coding: field, ["--no-compressed"]).body == coded)
    let most = Array(repeating: "zstd", count: 4).joined(separator: ", ")
    let body = (0..<4).reduce(Self.text) { body, _ in Self.rawFrame(body) }
    #expect(try await get(body, coding: most).body == Self.text)
  }
}
