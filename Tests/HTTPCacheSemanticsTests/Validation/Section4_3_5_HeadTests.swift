import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_3_5_HeadTests {
  private func outcome(
    _ kept: StoredResponse, _ pairs: KeyValuePairs<String, String>
  ) throws -> HeadFreshening {
    try outcome(kept, 200, pairs)
  }

  private func outcome(
    _ kept: StoredResponse, _ status: Int, _ pairs: KeyValuePairs<String, String>
  ) throws -> HeadFreshening {
    Freshening.updatedByHead(
      kept, with: ReceivedResponse(try response(status, pairs), requestTime: today, responseTime: today),
      rules: privateRules)
  }

  @Test("§4.3.5, §4.4 Without validators a HEAD does not clear the mark of an invalidated GET")
  func invalidated() throws {
    let bare = try stored(200, ["Cache-Control": "max-age=2"]).marked(as: .invalidated)
    #expect(try outcome(bare, ["Cache-Control": "max-age=1000"]) == .invalidate)
    let tagged = try stored(200, ["ETag": "\"1\"", "Cache-Control": "max-age=2"]).marked(as: .invalidated)
    guard case .update(let fresh) = try outcome(tagged, ["ETag": "\"1\"", "Cache-Control": "max-age=1000"])
    else {
      Issue.record("the same representation")
      return
    }
    #expect(!fresh.isInvalidated)
  }

  // holds 9111-4.3.5-2, 9111-4.3.5-4
  @Test("§4.3.5 A HEAD with the same validators and length updates a stored GET")
  func update() throws {
    let kept = try stored(
      200, ["ETag": "\"1\"", "Content-Length": "5", "Cache-Control": "max-age=2", "A": "1"])
    let result = try outcome(
      kept, ["ETag": "\"1\"", "Content-Length": "5", "Cache-Control": "max-age=1000", "A": "2"])
    guard case .update(let fresh) = result else {
      Issue.record("not updated: \(result)")
      return
    }
    #expect(fresh.facts.freshnessLifetime == 1000)
    #expect(fresh.head.headerFields[values: try #require(HTTPField.Name("A"))] == ["2"])
  }

  // holds 9111-4.3.5-3
  @Test("§4.3.5 Another validator or length makes it stale")
  func invalidate() throws {
    let kept = try stored(200, ["ETag": "\"1\"", "Content-Length": "5"])
    #expect(try outcome(kept, ["ETag": "\"2\""]) == .invalidate)
    #expect(try outcome(kept, ["Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT"]) == .invalidate)
    #expect(try outcome(kept, ["ETag": "\"1\"", "Content-Length": "6"]) == .invalidate)
  }

  @Test("§4.3.5 A HEAD that must not be stored leaves only the invalidation")
  func forbidden() throws {
    let kept = try stored(200, ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
    #expect(
      try outcome(kept, ["ETag": "\"1\"", "Cache-Control": "no-store", "Set-Cookie": "a=b"])
        == .invalidate)
  }

  @Test("§4.3.5 Statuses other than 200 say nothing; the wire length says nothing of a decoded body")
  func unrelated() throws {
    let kept = try stored(200, ["ETag": "\"1\"", "Content-Length": "5"], isDecoded: true)
    #expect(try outcome(kept, 410, ["ETag": "\"1\""]) == .unrelated)
    if case .update = try outcome(kept, ["ETag": "\"1\"", "Content-Length": "6"]) {
    } else {
      Issue.record("a decoded body was compared by its length")
    }
  }
}
