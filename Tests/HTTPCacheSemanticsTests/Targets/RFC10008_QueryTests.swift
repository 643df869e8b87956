import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("RFC 10008 QUERY", .timeLimit(.minutes(10)))
struct RFC10008_QueryTests {
  private func canonical(_ pairs: KeyValuePairs<String, String>) throws -> [UInt8] {
    QueryMetadata.canonical(try fields(pairs))
  }

  @Test(
    "§2.7 Metadata that is the same by definition makes the same key",
    arguments: [
      ("text/plain;charset=utf-8", "Text/PLAIN ; Charset=UTF-8"),
      ("text/plain;charset=utf-8", "text/plain;charset=\"utf-8\""),
      ("text/plain;a=\"b\\\\c\"", "text/plain;a=\"\\b\\\\c\""),
      ("text/plain", "text/plain ;"),
    ])
  func equal(first: String, second: String) throws {
    #expect(try canonical(["Content-Type": first]) == canonical(["Content-Type": second]))
  }

  // holds 10008-Caching-1
  @Test(
    "§2.7 Metadata that differs makes another key",
    arguments: [
      ("text/plain", "text/html"), ("text/plain;a=b", "text/plain;a=B"),
      ("text/plain;a=b;c=d", "text/plain;c=d;a=b"), ("text/plain;a=\"b;c=d\"", "text/plain;a=b;c=d"),
      ("text/plain", "text/plain;a=b"), ("text/plain", "text/plain, text/html"), ("a", "A"),
      ("text/plain;a=\"", "text/plain;a=\"\""),
    ])
  func different(first: String, second: String) throws {
    #expect(try canonical(["Content-Type": first]) != canonical(["Content-Type": second]))
  }

  @Test("RFC 9110 §8.3 to §8.7 Codings, languages and locations count, length and digests do not")
  func fieldsThatCount() throws {
    let plain = try canonical(["Content-Type": "a/b"])
    #expect(try canonical(["Content-Type": "a/b", "Content-Encoding": "gzip"]) != plain)
    #expect(try canonical(["Content-Type": "a/b", "Content-Language": "de"]) != plain)
    #expect(try canonical(["Content-Type": "a/b", "Content-Location": "/x"]) != plain)
    #expect(
      try canonical(["Content-Length": "1", "Accept": "c/d", "content-type": "a/b", "Content-MD5": "x"])
        == plain)
    #expect(
      try canonical(["Content-Encoding": "GZIP ,br"]) == canonical(["Content-Encoding": "gzip,BR"]))
    #expect(
      try canonical(["Content-Encoding": "gzip", "Content-Language": "de"])
        != canonical(["Content-Encoding": "de", "Content-Language": "gzip"]))
  }

  @Test("§2.7 The response to QUERY may be stored, with explicit or heuristic lifetime")
  func storable() throws {
    for pairs in [["Cache-Control": "max-age=60"], ["ETag": "\"1\""]] as [KeyValuePairs<String, String>] {
      #expect(
        Storability.decide(
          request: try get(method: .query), response: try response(200, pairs), rules: privateRules,
          now: today) == .store)
    }
  }

  @Test("§2.7 A QUERY may be answered from the store; its preconditions are for the origin as GET's")
  func reusable() throws {
    #expect(Reuse.methodMiss(try get(method: .query)) == nil)
    #expect(
      Reuse.methodMiss(try get(method: .query, ["If-Match": "\"1\""])) == .precondition(.ifMatch))
  }

  @Test("§2 QUERY is safe: it invalidates nothing")
  func safe() throws {
    #expect(
      Invalidation.targets(request: try get(method: .query), response: try response()).isEmpty)
  }

  // holds 10008-Caching-1, 10008-Caching-2
  @Test("§2.7 The key of a QUERY is not that of GET and has its content's digest")
  func key() throws {
    let query = try #require(CacheKey(request: try get(method: .query), rules: CacheRules()))
    let get = try #require(CacheKey(request: try get(), rules: CacheRules()))
    #expect(query != get)
    #expect(query.with(contentDigest: [1]) != query)
    #expect(query.with(contentDigest: [1]) == query.with(contentDigest: [1]))
    #expect(query.with(contentDigest: [1]) != query.with(contentDigest: [2]))
  }

  @Test("§2.6, §2.8 Conditions and ranges work as for GET")
  func conditionsAndRanges() throws {
    let stored = try stored(200, ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
    let conditional = try get(method: .query, ["If-None-Match": "\"1\""])
    #expect(Preconditions.evaluate(conditional, stored: stored, now: today)?.status == .notModified)
    let part = try get(method: .query, ["Range": "bytes=1-2"])
    #expect(RangeRequest.evaluate(part, stored: stored, length: 10) == .partial([1..<3]))
  }

  @Test("§2.7 An explanation names what keeps the content out of the key")
  func explanation() throws {
    let explanation = CacheExplanation.reuse(
      try get(method: .query), among: [],
      in: CacheExplanation.Circumstances(rules: privateRules, now: today, digest: reversing),
      obstacle: .tooLarge(limit: 5))
    #expect(explanation.decision == .miss(.content(.tooLarge(limit: 5))))
    #expect(explanation.steps.last?.section == "RFC 10008 §2.7")
    #expect(explanation.description.contains("longer than 5 bytes"))
  }
}
