import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

/// Forms of HAR that programs write, beside that of `HARSeedTests`.
@Suite("HAR as other programs write it", .timeLimit(.minutes(10)))
struct HARFormTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func path(_ entries: String...) throws -> String {
    try folder.write("a.har", #"{"log":{"entries":["# + entries.joined(separator: ",") + "]}}").path
  }

  private func entry(
    _ content: String, status: Int = 200, method: String = "GET", fields: String = "", request: String = "",
    rest: String = "", url: String = "https://example.com/a", more: String = ""
  ) -> String {
    #"{"request":{"method":"\#(method)","url":"\#(url)","headers":[\#(request)]\#(more)},"#
      + #""response":{"status":\#(status),"headers":[\#(fields)],"content":\#(content)\#(rest)}\#(more)}"#
  }

  private func field(_ name: String, _ value: String) -> String {
    #"{"name":"\#(name)","value":"\#(value)"}"#
  }

  @Test(
    "a response whose body is not in the recording is left out with a note",
    arguments: [
      (#"{"size":-1}"#, "", ""), (#"{"size":0}"#, "11634", ""), (#"{}"#, "", #","bodySize":500"#),
      (#"{"size":0}"#, "", #","bodySize":500"#), (#"{"comment":"not included"}"#, "", #","bodySize":-1"#),
      (#"{"size":9}"#, "", ""), (#"{"size":2,"text":""}"#, "", ""), (#"{"size":0,"text":""}"#, "7", ""),
      (#"{"size":-1,"text":null}"#, "", ""), (#"{"size":"12"}"#, "", ""), (#"{"size":12.0}"#, "", ""),
      (#"{"size":-1,"encoding":"base64","text":""}"#, "7", ""), ("null", "", ""),
    ])
  func notRecorded(content: String, length: String, rest: String) throws {
    let fields = length.isEmpty ? "" : field("Content-Length", length)
    let seed = try RecordingSeed(path: try path(entry(content, fields: fields, rest: rest)))
    #expect(seed.count == 0 && seed.notes.count == 1)
    #expect(seed.notes.first?.contains("the recording has no body for it") == true)
  }

  @Test(
    "an empty body, and a response that has none, stay",
    arguments: [
      (#"{"size":0,"text":""}"#, 200, ""), (#"{"size":0}"#, 200, ""), (#"{"size":0}"#, 200, "0"),
      (#"{"size":-1}"#, 204, ""), (#"{}"#, 200, "0"), (#"{"size":-1,"text":""}"#, 200, ""),
      (#"{"size":0}"#, 404, ""),
    ])
  func empty(content: String, status: Int, length: String) throws {
    let fields = length.isEmpty ? "" : field("Content-Length", length)
    let seed = try RecordingSeed(path: try path(entry(content, status: status, fields: fields)))
    #expect(seed.count == 1 && seed.notes.isEmpty)
    #expect(try seed.responses(from: 0, limit: 1).first?.bodyLength == 0)
  }

  @Test(
    "a size that is the length of the coded body does not count beside a decoded text",
    arguments: [
      (#"{"size":22,"text":"{}"}"#, "", 22, true), (#"{"size":22,"text":"{}"}"#, "22", -1, true),
      (#"{"size":20,"text":""}"#, "", 20, true), (#"{"size":9,"text":"{}"}"#, "", 5, false),
      (#"{"size":20}"#, "", 20, false),
      (#"{"size":22,"text":"e30=","encoding":"base64","_isCoded":true}"#, "", 22, false),
    ])
  func codedSize(content: String, length: String, bodySize: Int, isKept: Bool) throws {
    let coding = field("Content-Encoding", "gzip")
    let fields = length.isEmpty ? coding : coding + "," + field("Content-Length", length)
    let seed = try RecordingSeed(
      path: try path(entry(content, fields: fields, rest: #","bodySize":\#(bodySize)"#)))
    #expect(seed.count == (isKept ? 1 : 0) && seed.notes.count == (isKept ? 0 : 1), "\(seed.notes)")
  }

  @Test("RFC 9110 §5.5: white space at the ends of a value is not part of it")
  func spaceAroundValue() throws {
    let seed = try RecordingSeed(
      path: try path(entry(#"{"size":1,"text":"x"}"#, fields: field("ETag", #" \"1\"\t"#))))
    #expect(try seed.responses(from: 0, limit: 1).first?.response.head.headerFields[.eTag] == "\"1\"")
  }

  @Test("a space of a URL counts as encoded")
  func space() throws {
    let seed = try RecordingSeed(
      path: try path(entry(#"{"size":1,"text":"x"}"#, url: "https://example.com/a b")))
    #expect(try seed.responses(to: "https://example.com/a%20b").count == 1)
  }

  @Test("a redirect stays without its body, which clients do not need")
  func redirect() throws {
    let fields = [field("Location", "/b"), field("Content-Length", "178")].joined(separator: ",")
    let seed = try RecordingSeed(path: try path(entry(#"{"size":0}"#, status: 301, fields: fields)))
    #expect(try seed.responses(from: 0, limit: 1).first?.response.head.headerFields[.location] == "/b")
  }

  @Test("a replay does not answer with an empty body where none was recorded")
  func replay() async throws {
    let origin = try ReplayUpstream(path: try path(entry(#"{"size":-1}"#)))
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
    let error = await #expect(throws: UpstreamError.self) {
      _ = try await origin.send(UpstreamRequest(head: request))
    }
    #expect(error?.message.contains("without its body") == true)
    let other = try ReplayUpstream(
      path: try path(
        entry(
          #"{"size":4,"text":"text"}"#, method: "get", fields: oddFields, request: oddFields)))
    let response = try await other.send(UpstreamRequest(head: request))
    #expect(String(decoding: try await response.body.collect().array, as: UTF8.self) == "text")
  }

  /// Fields as axios-har-tracker and other programs write them.
  private let oddFields =
    #"{"name":"X-None"},{"name":"X-Null","value":null},{"name":"X-List","value":[]},{"value":"x"},null,7,"#
    + #"{"name":"X-Count","value":10},{"name":"X-Share","value":0.5},{"name":"X-Is","value":true},"#
    + #"{"name":"ETag","value":"\"1\""}"#

  @Test("members that are not used may be of any kind")
  func otherMembers() async throws {
    let odd =
      #","queryString":{},"cookies":null,"httpVersion":2,"headersSize":"?","redirectURL":null,"time":"1","cache":[],"#
      + #""timings":[],"startedDateTime":5,"pageref":{},"bodySize":null,"postData":7"#
    let seed = try RecordingSeed(
      path: try path(
        entry(
          #"{"size":4.0,"text":"text","mimeType":null,"compression":"x"}"#,
          rest: #","statusText":0,"cookies":{}"#, more: odd)))
    #expect(try await seed.text("https://example.com/a") == "text")
    #expect(seed.notes.isEmpty)
  }

  @Test("a method may be in lower case; a field may have a number, and one without a value is dropped")
  func oddMembers() async throws {
    let seed = try RecordingSeed(
      path: try path(
        entry(#"{"size":4,"text":"text"}"#, method: "get", fields: oddFields, request: oddFields)))
    #expect(try await seed.text("https://example.com/a") == "text")
    let fields = try #require(try seed.responses(from: 0, limit: 1).first).response.head.headerFields
    let expected = ["X-Count": "10", "X-Share": "0.5", "X-Is": "true", "ETag": "\"1\""]
    for (name, value) in expected {
      let field = try #require(HTTPField.Name(name))
      #expect(fields[field] == value, "\(name)")
    }
    let names = fields.map { $0.name.canonicalName }
    #expect(!names.contains("x-none") && !names.contains("x-null") && !names.contains("x-list"))
    #expect(seed.notes.isEmpty)
    let posted = try RecordingSeed(path: try path(entry(#"{"size":1,"text":"x"}"#, method: "post")))
    #expect(posted.count == 0 && posted.notes.first?.contains("a response to POST") == true)
  }

  private func compressed(_ bytes: Data) throws -> String {
    let path = folder.path + "/a.har.gz"
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("a file that is compressed with gzip is read, also one of several members")
  func gzip() async throws {
    let text = #"{"log":{"entries":["# + entry(#"{"size":4,"text":"text"}"#) + "]}}"
    let whole = Data(text.utf8)
    let (start, end) = (try whole.prefix(100).gzipped, try whole.dropFirst(100).gzipped)
    for bytes in [try whole.gzipped, start + end] {
      let path = try compressed(bytes)
      #expect(try Seeds.open(path: path) is RecordingSeed)
      let seed = try RecordingSeed(path: path)
      #expect(try await seed.text("https://example.com/a") == "text")
      #expect(seed.count == 1 && seed.notes.isEmpty)
    }
  }

  @Test("a compressed file that was cut, is damaged or unpacks to too much is refused")
  func brokenGzip() throws {
    let digits = (0..<2_000).map { String($0) }.joined()
    let text = #"{"log":{"entries":["# + entry(#"{"text":"\#(digits)"}"#) + "]}}"
    let whole = try Data(text.utf8).gzipped
    let cut = try compressed(whole.prefix(whole.count / 2))
    var error = #expect(throws: CacheError.self) { try RecordingSeed(path: cut) }
    #expect(error?.code == .damaged && error?.message.contains("is not a HAR file") == true)
    let damaged = try compressed(whole.dropLast(8) + Data(repeating: 0, count: 8))
    error = #expect(throws: CacheError.self) { try RecordingSeed(path: damaged) }
    #expect(error?.code == .damaged)
    let spaces = try compressed((Data("{".utf8) + Data(repeating: 0x20, count: 80 << 20)).gzipped)
    error = #expect(throws: CacheError.self) { try RecordingSeed(path: spaces) }
    #expect(error?.code == .tooLarge)
  }

  @Test("all notes are counted, also those that are not kept")
  func counted() throws {
    let entries = (0..<150).map { entry(#"{"size":-1}"#, url: "https://example.com/\($0)") }
    let file = try folder.write("b.har", #"{"log":{"entries":["# + entries.joined(separator: ",") + "]}}")
    let seed = try RecordingSeed(path: file.path)
    #expect(seed.notes.count == 100 && seed.noteCount == 150)
  }

  @Test(
    "Vary on a field that the request did not have keeps a response for requests without it",
    arguments: ["Cookie", "Authorization", "Accept-Language, Cookie"])
  func absentFields(_ vary: String) async throws {
    let source = try RecordingSeed(
      path: try path(entry(#"{"size":4,"text":"text"}"#, fields: field("Vary", vary))))
    let stripped = try StrippedSeeds(source, without: RecordingSecrets())
    #expect(stripped.count == 1 && stripped.noteCount == 0)
    #expect(try await answer(stripped, [:]) == "text")
    #expect(try await answer(stripped, [.cookie: "a=b", .acceptLanguage: "de", .authorization: "x"]) == nil)
  }

  @Test("what only a secret selects is left out with a note")
  func secret() throws {
    let source = try RecordingSeed(
      path: try path(
        entry(
          #"{"size":4,"text":"text"}"#, fields: field("Vary", "Cookie"), request: field("Cookie", "a=b"))))
    #expect(source.count == 0 && source.notes.count == 1)
  }

  @Test("Vary on codings does not make a body that is stored decoded unreachable")
  func codings() async throws {
    let fields = [field("Vary", "accept-encoding, Accept-Language"), field("Content-Encoding", "br")]
    let source = try RecordingSeed(
      path: try path(
        entry(
          #"{"size":4,"text":"text"}"#, fields: fields.joined(separator: ","),
          request: field("Accept-Encoding", "gzip, br"))))
    for request in [[:], [.acceptEncoding: "identity"], [.acceptEncoding: "gzip"]] as [HTTPFields] {
      #expect(try await answer(source, request) == "text", "\(request)")
    }
    #expect(
      try source.responses(from: 0, limit: 1).first?.response.head.headerFields[.vary] == "Accept-Language")
  }

  /// The body that a cache with these seeds alone gives; nil for a miss.
  private func answer(_ seeds: any SeedSource, _ fields: HTTPFields) async throws -> String? {
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 1 << 20, seeds: [seeds]))
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: "example.com", path: "/a", headerFields: fields)
    let response = try await cache.respond(
      to: request, policy: .cacheOnly, options: RequestOptions(bodyForms: .any),
      via: try ReplayUpstream(path: try folder.write("none.har", #"{"log":{"entries":[]}}"#).path))
    guard response.head.status.code == 200 else { return nil }
    return String(decoding: try await response.body.collect().array, as: UTF8.self)
  }
}
