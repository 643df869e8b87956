import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

/// How the text of a body in HAR stands for its bytes, beside plain text and Base64 as HAR 1.2 has them.
@Suite("Encodings of bodies in HAR", .timeLimit(.minutes(10)))
struct HAREncodingTests {
  private let folder: ScratchFolder
  private let target = "https://example.com/a"

  init() throws { folder = try ScratchFolder() }

  /// A HAR file with one response to GET.
  private func path(
    _ content: String, status: Int = 200, fields: [(String, String)] = []
  ) throws -> String {
    let headers = fields.map { #"{"name":"\#($0)","value":"\#($1)"}"# }.joined(separator: ",")
    let entry =
      #"{"request":{"method":"GET","url":"\#(target)","headers":[]},"#
      + #""response":{"status":\#(status),"headers":[\#(headers)],"content":\#(content),"bodySize":-1}}"#
    return try folder.write("a.har", #"{"log":{"entries":[\#(entry)]}}"#).path
  }

  private func hex(_ bytes: Data) -> String {
    bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  /// Three pieces of unequal lengths, of which each has its own end in Base64.
  private func pieces(_ bytes: Data) -> [Data] {
    let half = bytes.count / 2
    return [bytes.prefix(1), bytes.dropFirst(1).prefix(half), bytes.dropFirst(half + 1)].map { Data($0) }
  }

  /// The member `text` with a JSON list of texts, and its length.
  private func list(_ texts: [String]) -> (member: String, length: Int) {
    let list = #"["\#(texts.joined(separator: #"",""#))"]"#
    return (#""text":"\#(list.replacingOccurrences(of: "\"", with: "\\\""))""#, list.utf8.count)
  }

  private func onlyResponse(of seed: RecordingSeed) async throws -> (StoredResponse, Data) {
    let found = try #require(try seed.responses(to: target).first, "\(seed.notes)")
    return (found.response, Data(try await found.body.open().read(0..<found.bodyLength).array))
  }

  @Test(
    "a body in its content coding is read from the list of pieces that Polly.js writes",
    arguments: ["", #""encoding":"hex","#, #""_isBinary":true,"#, #""encoding":"base64","#], [0, 60_000])
  func pieces(mark: String, padding: Int) async throws {
    // Random bytes, so that the text is longer than the strings that are kept in memory.
    let text = Data("hello".utf8) + Data((0..<padding).map { _ in UInt8.random(in: 0...255) })
    let coded = try text.gzipped
    let isHex = !mark.contains("base64")
    let (member, length) = list(pieces(coded).map { isHex ? hex($0) : $0.base64EncodedString() })
    let fields = [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    let path = try path("{\(mark)\"size\":\(length),\(member)}", fields: fields)
    let (response, body) = try await onlyResponse(of: try RecordingSeed(path: path))
    #expect(body == coded && !response.isDecoded)
    #expect(response.head.headerFields[.contentEncoding] == "gzip")
    #expect(response.head.headerFields[.vary] == "Accept-Encoding")
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
    let replayed = try await ReplayUpstream(path: path).send(UpstreamRequest(head: request))
    let replayedBody = Data(try await replayed.body.collect().array)
    #expect(replayedBody == coded && !replayed.isContentDecoded)
  }

  @Test(
    "a body without a content coding is read in hex",
    arguments: [#""encoding":"hex""#, #""_isBinary":true"#])
  func hex(mark: String) async throws {
    let bytes = Data(0...255)
    let seed = try RecordingSeed(path: try path("{\(mark),\"size\":512,\"text\":\"\(hex(bytes))\"}"))
    #expect(try await onlyResponse(of: seed).1 == bytes)
  }

  @Test(
    "a size that is the length of the text in Base64 does not count",
    arguments: [(8, true), (6, true), (5, true), (7, false), (9, false)])
  func size(_ size: Int, isKept: Bool) throws {
    let seed = try RecordingSeed(
      path: try path(#"{"size":\#(size),"encoding":"base64","text":"aGVsbG8h"}"#))
    #expect(seed.count == (isKept ? 1 : 0) && seed.notes.count == (isKept ? 0 : 1), "\(seed.notes)")
  }

  @Test(
    "a text that is not in its encoding is left out with a note",
    arguments: [
      (#""encoding":"hex","text":"abc""#, "is not hex"), (#""encoding":"hex","text":"xy""#, "is not hex"),
      (#""encoding":"hex","text":"[\"abc\"]""#, "is not hex"),
      (#""encoding":"base64","text":"[\"*\"]""#, "is not Base64"),
      (#""encoding":"base64","text":"[\"aGk=\"""#, "is not a list of pieces"),
      (#""encoding":"base64","text":"[\"aGk=\"]]""#, "is not a list of pieces"),
      (#""encoding":"base64","text":"[7]""#, "is not a list of pieces"),
      (#""encoding":"uuencode","text":"aGk=""#, "the encoding 'uuencode' of the text is not read"),
    ])
  func damaged(content: String, reason: String) throws {
    let seed = try RecordingSeed(path: try path("{\(content)}"))
    #expect(seed.count == 0 && seed.notes.count == 1)
    #expect(seed.notes.first?.contains(reason) == true, "\(seed.notes)")
  }

  @Test("a decoded text that is a JSON list of other strings stays a text")
  func otherLists() async throws {
    for list in [#"["1f"]"#, #"["1f8b08 is gzip"]"#, #"["name"]"#, "[]"] {
      let text = list.replacingOccurrences(of: "\"", with: "\\\"")
      let seed = try RecordingSeed(
        path: try path(#"{"text":"\#(text)"}"#, fields: [("Content-Encoding", "gzip")]))
      let (response, body) = try await onlyResponse(of: seed)
      #expect(String(decoding: body, as: UTF8.self) == list && response.isDecoded)
    }
  }

  @Test("the encoding utf-8 is that of a text")
  func utf8() async throws {
    let seed = try RecordingSeed(
      path: try path(#"{"encoding":"utf-8","text":"é"}"#, fields: [("Content-Type", "text/plain")]))
    let (response, body) = try await onlyResponse(of: seed)
    #expect(String(decoding: body, as: UTF8.self) == "é")
    #expect(response.head.headerFields[.contentType] == "text/plain; charset=utf-8")
  }

  @Test(
    "an entry that is not as HAR has it is left out, and the note names the member",
    arguments: [
      (#"{"request":{"method":"GET","url":"https://example.com/a"}}"#, "response is missing"),
      (#"{"request":{"method":"GET"},"response":{"status":200}}"#, "request.url is missing"),
      (
        #"{"request":{"method":"GET","url":"https://example.com/a"},"response":{"status":"OK"}}"#,
        "response.status is of another kind"
      ),
      (
        #"{"request":{"method":"GET","url":"https://example.com/a"},"response":{"status":200,"content":{"text":{}}}}"#,
        "response.content.text is of another kind"
      ),
      ("7", "the entry is no JSON object"), ("{no}", "the entry is no JSON object"),
    ])
  func otherMembers(entry: String, reason: String) throws {
    let path = try folder.write("a.har", #"{"log":{"entries":[\#(entry)]}}"#).path
    let seed = try RecordingSeed(path: path)
    #expect(seed.count == 0 && seed.notes == ["entry 1: not as HAR 1.2 has it: \(reason)"])
    let error = #expect(throws: CacheError.self) { try ReplayUpstream(path: path) }
    #expect(error?.message.hasSuffix(reason) == true)
  }

  @Test("an empty body keeps its charset")
  func emptyText() async throws {
    let type = "image/gif; charset=ISO-8859-1"
    let seed = try RecordingSeed(
      path: try path(#"{"size":0,"text":""}"#, fields: [("Content-Type", type)]))
    #expect(try await onlyResponse(of: seed).0.head.headerFields[.contentType] == type)
  }

  @Test(
    "a redirect and a 204 stay without a body, whatever length is recorded",
    arguments: [#"{"size":178}"#, #"{"size":178,"text":""}"#, #"{"size":"369"}"#, "{}"])
  func redirect(_ content: String) async throws {
    let seed = try RecordingSeed(path: try path(content, status: 301, fields: [("Location", "/b")]))
    let (response, body) = try await onlyResponse(of: seed)
    #expect(body.isEmpty && response.head.headerFields[.location] == "/b" && seed.notes.isEmpty)
    let noContent = try RecordingSeed(path: try path(content, status: 204))
    #expect(noContent.count == 1 && noContent.notes.isEmpty)
    let cut = try RecordingSeed(
      path: try path(#"{"size":178,"text":"<html>"}"#, status: 301, fields: [("Location", "/b")]))
    #expect(cut.count == 0 && cut.notes.first?.contains("6 of 178 bytes") == true)
  }
}
