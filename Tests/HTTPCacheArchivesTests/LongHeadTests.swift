import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheArchives

/// Heads with more fields than `HTTPFields` takes, in every form of recording.
@Suite("A head with too many fields", .timeLimit(.minutes(10)))
struct LongHeadTests {
  private static let count = 65_536
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func entry(_ url: String, request: Int = 0, response: Int = 0, lines: Int = 0) -> String {
    let fields = { (count: Int) in
      repeatElement(#"{"name":"x","value":"y"}"#, count: count).joined(separator: ",")
    }
    let joined = repeatElement("a", count: lines).joined(separator: "\\n")
    return """
      {"startedDateTime":"2020-09-13T12:26:40Z","request":{"method":"GET","url":"\(url)","headers":[\(fields(request))]},
      "response":{"status":200,"headers":[\(fields(response))\(lines > 0 ? #"{"name":"x","value":"\#(joined)"}"# : "")],
      "content":{"text":"text"}}}
      """
  }

  private func har(_ entries: String...) throws -> String {
    try folder.write(
      "a.har", #"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",") + "]}}"
    )
    .path
  }

  @Test(
    "is left out of a HAR file with a note, and the other entries stay",
    arguments: [(count, 0, 0), (0, count, 0), (0, 0, 20_000), (16_385, 0, 0)])
  func recording(_ request: Int, _ response: Int, _ lines: Int) async throws {
    let seed = try RecordingSeed(
      path: try har(
        entry("https://example.com/a"),
        entry("https://example.com/b", request: request, response: response, lines: lines),
        entry("https://example.com/c")))
    #expect(seed.count == 2 && seed.notes.count == 1)
    #expect(seed.notes.first == "entry 2: https://example.com/b: a head of more than 16384 fields")
    #expect(try await seed.text("https://example.com/c") == "text")
  }

  @Test("is an error with its entry in a HAR file to replay", arguments: [(count, 0), (0, count)])
  func replay(_ request: Int, _ response: Int) throws {
    let path = try har(
      entry("https://example.com/a"), entry("https://example.com/b", request: request, response: response))
    let error = #expect(throws: CacheError.self) { try ReplayUpstream(path: path) }
    #expect(error?.code == .damaged && error?.message.contains("entry 2 of \(path)") == true)
  }

  @Test(
    "is left out of a WARC file with a note, and the other records stay", arguments: ["response", "request"])
  func warc(_ type: String) async throws {
    let long = String(repeating: "x:y\n", count: Self.count - 10)
    let record = { (type: String, id: String, rest: String, block: String) in
      "WARC/1.0\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:\(id)>\r\n\(rest)WARC-Target-URI: https://example.com/\(id)\r\n"
        + "WARC-Date: 2020-09-13T12:26:40Z\r\nContent-Type: application/http; msgtype=\(type)\r\n"
        + "Content-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
    }
    let start = type == "response" ? "HTTP/1.1 200 OK\n" : "GET / HTTP/1.1\n"
    let seed = try RecordingSeed(
      path: try folder.write(
        "a.warc",
        record("response", "a", "", "HTTP/1.1 200 OK\r\n\r\ntext")
          + record(
            type, "b", "WARC-Concurrent-To: <urn:a>\r\n",
            start + long + "\nbody\n" + record("response", "d", "", "HTTP/1.1 200 OK\r\n\r\nforged"))
          + record("response", "c", "", "HTTP/1.1 200 OK\r\n\r\ntext")
      ).path)
    #expect(seed.count == 2 && seed.notes == ["record 2: its head has more than 16384 fields: left out"])
    #expect(try await seed.text("https://example.com/c") == "text")
  }

  @Test("is an error with its line in seeds.jsonl", arguments: ["fields", "request"])
  func line(_ place: String) throws {
    let many = repeatElement(#"["x","y"]"#, count: Self.count).joined(separator: ",")
    let fields = place == "fields" ? "\"fields\":[\(many)]" : "\"fields\":[],\"request\":[\(many)]"
    try folder.write("a/b", "text")
    try folder.write(
      "seeds.jsonl",
      #"{"target":"https://example.com/","file":"a/b","status":200,"received":1,"# + fields + "}\n")
    let error = #expect(throws: CacheError.self) { try FolderSeed(path: folder.path) }
    #expect(error?.message.contains("seeds.jsonl, line 1: ") == true)
    #expect(error?.message.contains("more than 16384 fields") == true)
  }
}
