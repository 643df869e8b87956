import Foundation
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheArchives

/// Small files that unpack to much.
@Suite("What a file unpacks to is limited", .timeLimit(.minutes(10)))
struct UnpackedLimitTests {
  private static let mebibyte = 1 << 20
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func record(_ type: String, _ id: String, _ rest: String = "", _ block: [UInt8]) -> [UInt8] {
    Array(
      ("WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:\(id)>\r\n\(rest)"
        + "WARC-Target-URI: https://example.com/\(id)\r\nWARC-Date: 2020-09-13T12:26:40Z\r\n"
        + "Content-Type: application/http; msgtype=response\r\nContent-Length: \(block.count)\r\n\r\n").utf8)
      + block + Array("\r\n\r\n".utf8)
  }

  private func response(_ id: String, zeros: Int) -> [UInt8] {
    record(
      "response", id, "",
      Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0, count: zeros))
  }

  private func gzip(_ records: [UInt8]...) throws -> Data {
    var data = Data()
    for bytes in records {
      let deflation = try Deflation()
      data += deflation.encode(BodyBytes(bytes), isLast: true)
    }
    return data
  }

  private func open(_ data: Data) throws -> RecordingSeed {
    let path = folder.path + "/a.warc.gz"
    try data.write(to: URL(fileURLWithPath: path))
    return try RecordingSeed(path: path)
  }

  @Test("a gzip member that unpacks to too much is left out with a note, and the next one is read")
  func member() async throws {
    let seed = try open(
      try gzip(
        response("a", zeros: 4), response("b", zeros: 90 * Self.mebibyte), response("c", zeros: 4)))
    #expect(seed.count == 2 && seed.notes.count == 1)
    #expect(
      seed.notes.first?.hasPrefix("record 2: a gzip member unpacks to more than ") == true, "\(seed.notes)")
    #expect(try seed.responses(to: "https://example.com/c").count == 1)
  }

  @Test("a recording whose members unpack to too much together is refused")
  func together() throws {
    let part = response("a", zeros: 20 * Self.mebibyte)
    let error = #expect(throws: CacheError.self) { try open(try gzip(part, part, part, part)) }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("64 MiB and 50 times its length") == true)
  }

  @Test("a body counts for each response that has it")
  func revisits() throws {
    let body = response("a", zeros: Self.mebibyte)
    var bytes = body
    let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
    for number in 0..<200 {
      bytes += record("revisit", "r\(number)", "WARC-Refers-To: <urn:a>\r\n", head)
    }
    // 64 MiB and 50 times the length are 118 MiB.
    let error = #expect(throws: CacheError.self) {
      let path = folder.path + "/a.warc"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      _ = try RecordingSeed(path: path)
    }
    #expect(error?.code == .tooLarge)
  }

  @Test("an archive whose responses share one body again and again is refused")
  func archive() throws {
    let path = folder.path + "/a.hca"
    var output = try ArchiveOutput(try OpenFile(path: path, flags: O_WRONLY | O_CREAT | O_EXCL))
    try output.append(BodyBytes([UInt8](repeating: 0, count: Self.mebibyte)))
    let body = try output.endBody()
    let head = RecordedHead(
      target: "https://example.com/", status: 200, fields: [:], request: nil, times: (0, 0))
    let response = try #require(SeedHead.response(head, length: body.length))
    for number in 0..<200 { try output.add("https://example.com/\(number)", response, body: body) }
    _ = try output.finish()
    #expect(throws: CacheError.self) { try ArchiveSeed(path: path) }
  }

  @Test("a folder whose lines name one file again and again is refused")
  func lines() throws {
    try folder.write("a/b", String(repeating: "a", count: Self.mebibyte))
    let lines = (0..<200).map {
      #"{"target":"https://example.com/\#($0)","file":"a/b","status":200,"received":1,"fields":[]}"# + "\n"
    }
    try folder.write("seeds.jsonl", lines.joined())
    let error = #expect(throws: CacheError.self) { try FolderSeed(path: folder.path) }
    #expect(error?.code == .tooLarge)
    try folder.write("seeds.jsonl", lines.prefix(50).joined())
    #expect(try FolderSeed(path: folder.path).count == 50)
  }
}
