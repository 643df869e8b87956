import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes
import Testing

/// Foundation decodes content codings: the bodies that it stores are not those of the wire, and another
/// client of the store must not take one for the other.
@Suite(.timeLimit(.minutes(10))) struct DecodedVariantTests {
  private static let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]

  private func gzip(_ request: OriginRequest) -> OriginAnswer {
    if request["If-None-Match"] == "\"a\"" { return .status(304, Self.fields) }
    return .gzip("some text", Self.fields)
  }

  /// Asks like a proxy, which forwards the bytes of the wire.
  private func askAtTheWire(_ test: TestSession, _ upstream: any Upstream) async throws -> CacheResponse {
    let url = test.origin.url("/")
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: "127.0.0.1:\(url.port ?? 0)", path: "/")
    return try await test.cache.respond(to: request, via: upstream)
  }

  private func wire() -> ScriptedUpstream {
    let body = Gzip.stored(Array("some text".utf8))
    return ScriptedUpstream { _ in
      ScriptedResponse(
        headers: [
          "Content-Encoding": "gzip", "Cache-Control": "max-age=60", "ETag": "\"a\"",
          "Content-Length": "\(body.count)",
        ], chunks: [BodyBytes(body)])
    }
  }

  @Test func whatIsStoredIsTheText() async throws {
    let test = try TestSession { gzip($0) }
    #expect(try await test.get("/").text == "some text")
    let second = try await test.get("/")
    #expect(second.text == "some text" && second.isHit)
    #expect(second.field("Content-Encoding") == nil)
    #expect(second.field("Content-Length") == nil || second.field("Content-Length") == "9")
  }

  @Test func aStrongTagStillValidates() async throws {
    let test = try TestSession { gzip($0) }
    _ = try await test.get("/")
    test.clock.advance(by: 100)
    let second = try await test.get("/")
    #expect(second.text == "some text" && second.isValidated)
    #expect(test.origin.requests.last?["If-None-Match"] == "\"a\"")
  }

  @Test func theWireNeverGetsDecodedBytes() async throws {
    let test = try TestSession { gzip($0) }
    #expect(try await test.get("/").text == "some text")
    let upstream = wire()
    let response = try await askAtTheWire(test, upstream)
    #expect(response.head.headerFields[.contentEncoding] == "gzip")
    let body = try await response.body.collect().array
    #expect(body == Gzip.stored(Array("some text".utf8)))
    #expect(upstream.requests.count == 1)
  }

  @Test func theSessionNeverGetsEncodedBytes() async throws {
    let test = try TestSession { gzip($0) }
    _ = try await askAtTheWire(test, wire()).body.collect()
    let got = try await test.get("/")
    #expect(got.text == "some text" && !got.isHit)
    #expect(try await test.get("/").isHit)
  }
}
