import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Recording and replaying", .timeLimit(.minutes(10)))
struct ReplayUpstreamTests {
  private let folder: ScratchFolder
  private let origin = ScriptedUpstream.counting()
  private let clock = ManualClock(now: Timestamp(seconds: 1_600_000_000))

  init() throws { folder = try ScratchFolder() }

  private var path: String { folder.path + "/api.har" }

  private func upstream(
    _ mode: ReplayMode, _ matching: ReplayMatching = ReplayMatching(),
    secrets: RecordingSecrets = RecordingSecrets()
  ) throws -> ReplayUpstream {
    try ReplayUpstream(
      path: path, mode: mode, matching: matching, secrets: secrets, origin: mode == .replay ? nil : origin,
      clock: clock)
  }

  private func ask(
    _ upstream: ReplayUpstream, _ path: String, method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
    content: String? = nil
  ) async throws -> (HTTPResponse, String) {
    let head = HTTPRequest(
      method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
    let body = content.map { MessageBody(BodyBytes(Array($0.utf8))) }
    let response = try await upstream.send(UpstreamRequest(head: head, body: body))
    return (response.head, String(decoding: try await response.body.collect().array, as: UTF8.self))
  }

  private func record(_ paths: String...) async throws {
    let upstream = try upstream(.recordAll)
    for path in paths { _ = try await ask(upstream, path) }
    #expect(try await upstream.finish() == paths.count)
  }

  @Test("a recording that cannot be written is refused before anything is recorded")
  func noFolder() throws {
    let error = try #require(throws: CacheError.self) {
      _ = try ReplayUpstream(path: "\(path)/none/a.har", mode: .recordAll, origin: origin)
    }
    #expect(error.code == .unavailable)
  }

  @Test("a recording that was compressed with gzip answers, and is added to without compression")
  func compressed() async throws {
    try await record("/a")
    let file = URL(fileURLWithPath: path)
    try Data(contentsOf: file).gzipped.write(to: file)
    #expect(try await ask(upstream(.replay), "/a").1 == "GET /a 1")
    let adding = try upstream(.recordMissing)
    _ = try await ask(adding, "/b")
    #expect(try await adding.finish() == 1)
    #expect(try Data(contentsOf: file).first == UInt8(ascii: "{"))
    let both = try upstream(.replay)
    #expect(try await ask(both, "/a").1 == "GET /a 1")
    #expect(try await ask(both, "/b").1 == "GET /b 2")
    for mode in [ReplayMode.recordAll, .recordMissing] {
      let error = #expect(throws: CacheError.self) {
        try ReplayUpstream(path: path + ".gz", mode: mode, origin: origin)
      }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test("answers without the origin as the origin answered")
  func replay() async throws {
    try await record("/a", "/a", "/b")
    let asked = origin.requestCount
    let upstream = try upstream(.replay)
    #expect(try await ask(upstream, "/b").1 == "GET /b 3")
    #expect(upstream.unusedRequests == ["GET https://example.com/a", "GET https://example.com/a"])
    var bodies: [String] = []
    for _ in 0..<3 { bodies.append(try await ask(upstream, "/a").1) }
    #expect(bodies == ["GET /a 1", "GET /a 2", "GET /a 2"] && upstream.unusedRequests.isEmpty)
    let head = try await ask(upstream, "/a").0
    #expect(
      head.status == .ok && head.headerFields[.eTag] == "\"2\"" && head.headerFields[.contentLength] == "8")
    #expect(origin.requestCount == asked)
  }

  @Test("a request that is not recorded fails, and the message names the nearest one")
  func unknown() async throws {
    try await record("/names?page=1", "/other")
    let upstream = try upstream(.replay)
    var error = await #expect(throws: UpstreamError.self) { try await ask(upstream, "/names?page=2") }
    #expect(error?.kind == .unreachable)
    #expect(
      error?.message
        == "\(path) has no response to GET https://example.com/names?page=2; nearest is GET https://example.com/names?page=1 (its query differs)"
    )
    error = await #expect(throws: UpstreamError.self) { try await ask(upstream, "/other", method: .delete) }
    #expect(error?.message.hasSuffix("nearest is GET https://example.com/other (its method is GET)") == true)
  }

  @Test("missing responses are recorded beside those that are there")
  func missing() async throws {
    try await record("/a")
    let upstream = try upstream(.recordMissing)
    #expect(try await ask(upstream, "/a").1 == "GET /a 1" && origin.requestCount == 1)
    #expect(try await ask(upstream, "/b").1 == "GET /b 2")
    #expect(try await upstream.finish() == 1)
    let again = try self.upstream(.replay)
    #expect(try await ask(again, "/a").1 == "GET /a 1")
    #expect(try await ask(again, "/b").1 == "GET /b 2")
  }

  @Test("without anything new the file is not written again")
  func unchanged() async throws {
    try await record("/a")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    let upstream = try upstream(.recordMissing)
    _ = try await ask(upstream, "/a")
    #expect(try await upstream.finish() == 0)
    let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    #expect(date == Date(timeIntervalSince1970: 1))
  }

  @Test("lenient, an unknown request goes to the origin and is not recorded")
  func lenient() async throws {
    try await record("/a")
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let upstream = try upstream(.replayElseForward)
    #expect(try await ask(upstream, "/b").1 == "GET /b 2")
    try await upstream.finish()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("content and chosen fields tell requests apart")
  func matching() async throws {
    let fields = ReplayMatching(fields: [.accept])
    let recording = try upstream(.recordAll, fields)
    _ = try await ask(recording, "/a", method: .post, content: "one")
    _ = try await ask(recording, "/a", method: .post, content: "tw\u{0}o\"")
    _ = try await ask(recording, "/b", [.accept: "text/plain"])
    try await recording.finish()
    let upstream = try upstream(.replay, fields)
    #expect(try await ask(upstream, "/a", method: .post, content: "tw\u{0}o\"").1 == "POST /a 2")
    #expect(try await ask(upstream, "/a", method: .post, content: "one").1 == "POST /a 1")
    var error = await #expect(throws: UpstreamError.self) {
      try await ask(upstream, "/a", method: .post, content: "three")
    }
    #expect(error?.message.hasSuffix("(its content differs)") == true)
    error = await #expect(throws: UpstreamError.self) {
      try await ask(upstream, "/b", [.accept: "text/html"])
    }
    #expect(error?.message.hasSuffix("(its Accept is \"text/plain\")") == true)
    let lax = try self.upstream(.replay, ReplayMatching(comparesContent: false))
    #expect(try await ask(lax, "/a", method: .post, content: "three").1 == "POST /a 1")
  }

  @Test("of a form that is recorded without its text the parameters are compared, however they are encoded")
  func form() async throws {
    let posted =
      #"{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"b c"},{"name":"d","value":"é&="}]}"#
    try folder.write(
      "api.har",
      #"{"log":{"entries":[{"request":{"method":"POST","url":"https://example.com/a","postData":\#(posted)},"#
        + #""response":{"status":200,"content":{"text":"form"}}}]}}"#)
    let upstream = try upstream(.replay)
    let fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    for content in ["a=b+c&d=%C3%A9%26%3D", "a=b%20c&d=%c3%a9%26="] {
      let answer = try await ask(upstream, "/a", method: .post, fields, content: content).1
      #expect(answer == "form", "\(content)")
    }
    for content in ["a=b&d=%C3%A9%26%3D", "d=%C3%A9%26%3D&a=b+c", ""] {
      await #expect(throws: UpstreamError.self, "\(content)") {
        try await ask(upstream, "/a", method: .post, fields, content: content)
      }
    }
  }

  @Test("a space of a recorded URL counts as encoded")
  func space() async throws {
    try folder.write(
      "api.har",
      #"{"log":{"entries":[{"request":{"method":"GET","url":"https://example.com/a b"},"#
        + #""response":{"status":200,"content":{"text":"space"}}}]}}"#)
    #expect(try await ask(upstream(.replay), "/a%20b").1 == "space")
  }

  @Test("secrets are not recorded, and a removed parameter matches any value")
  func secrets() async throws {
    let secrets = RecordingSecrets(queryParameters: ["key"])
    let recording = try upstream(.recordAll, secrets: secrets)
    _ = try await ask(
      recording, "/a?b=1&key=hidden1",
      [
        .authorization: "Bearer hidden2", .cookie: "a=hidden3",
        .referer: "https://example.com/?key=hidden6",
      ])
    try await recording.finish()
    let text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    #expect(!text.contains("hidden") && text.contains("key=removed"))
    let upstream = try upstream(.replay, secrets: secrets)
    let head = try await ask(upstream, "/a?b=1&key=other").0
    #expect(head.headerFields[.setCookie] == nil && head.status == .ok)
    #expect(head.headerFields[.contentLocation] == "/a?lang=en&key=removed")
    await #expect(throws: UpstreamError.self) { try await ask(upstream, "/a?b=2&key=other") }
  }

  @Test("a response that did not come whole is not recorded")
  func cut() async throws {
    let recording = try upstream(.recordAll)
    await #expect(throws: (any Error).self) { try await ask(recording, "/cut") }
    let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
    let left = try await recording.send(UpstreamRequest(head: head))
    left.body.source.cancel()
    #expect(try await recording.finish() == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a recorded 304 answers only a condition, a 206 only a range")
  func conditions() async throws {
    let recording = try upstream(.recordAll)
    _ = try await ask(recording, "/a", [.ifNoneMatch: "*"])
    try await recording.finish()
    let upstream = try upstream(.replay)
    #expect(try await ask(upstream, "/a", [.ifNoneMatch: "\"9\""]).0.status == .notModified)
    await #expect(throws: UpstreamError.self) { try await ask(upstream, "/a") }
  }

  @Test("bytes, long bodies and a cache in front of it")
  func cache() async throws {
    try await record("/long", "/bytes")
    let cache = try HTTPCache.open(HTTPCache.Configuration(clock: clock))
    let upstream = try upstream(.replay)
    for (name, byte) in [("long", UInt8(ascii: "x")), ("bytes", 0xFF)] {
      for _ in 0..<2 {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/\(name)")
        let response = try await cache.respond(to: request, via: upstream)
        #expect(try await response.body.collect().array == [UInt8](repeating: byte, count: 300_000))
      }
    }
    #expect(upstream.unusedRequests.isEmpty)
    await cache.close()
  }

  @Test("a recording is a seed, too")
  func seed() async throws {
    try await record("/a")
    #expect(try await RecordingSeed(path: path).text("https://example.com/a") == "GET /a 1")
  }

  @Test("a file that is missing or not HAR, and a mode without its origin, are refused")
  func refused() throws {
    #expect(throws: CacheError.self) { try upstream(.replay) }
    #expect(throws: CacheError.self) { try upstream(.replayElseForward) }
    #expect(throws: CacheError.self) { try ReplayUpstream(path: path, mode: .recordAll) }
    try folder.write("api.har", #"{"log":{"entries":[{}]}}"#)
    for mode in [ReplayMode.replay, .recordMissing] {
      #expect(throws: CacheError.self) { try upstream(mode) }
    }
  }
}
