import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section3_1_FieldHygieneTests {
  // holds 9111-3.1-1, 9110-7.6.1-2
  @Test("§3.1 Connection and what it lists are not stored, everything unknown is")
  func connection() throws {
    let stored = FieldHygiene.storable(
      try response(200, ["Connection": "A, b", "a": "1", "B": "2", "c": "3", "Set-Cookie": "x=y"]),
      rules: privateRules)
    #expect(try stored.headerFields == fields(["c": "3", "Set-Cookie": "x=y"]))
  }

  // holds 9111-3.1-2, 9110-7.6.1-3, 9110-7.6.1-5
  @Test(
    "RFC 9110 §7.6.1 Connection names no field that is for all recipients, so it hides no restriction",
    arguments: ["Cache-Control", "CDN-Cache-Control", "Expires", "Vary", "Set-Cookie", "Content-Encoding"])
  func connectionHidesNothing(name: String) throws {
    let field = try #require(HTTPField.Name(name))
    let head = try response(200, ["Connection": "close, \(name), X", name: "x", "X": "1"])
    let rules = CacheRules(mode: .shared, keepsSetCookie: true)
    #expect(FieldHygiene.storable(head, rules: rules).headerFields.map(\.name) == [field])
    #expect(FieldHygiene.forwardable(head.headerFields).map(\.name) == [field])
  }

  @Test("RFC 9110 §7.6.1 No quotation mark and no number of names in Connection hides one of them")
  func connectionTokens() throws {
    let many = (0..<1_000).map { "x\($0)" }.joined(separator: ", ")
    let head = try response(200, ["Connection": "\"a, b, \(many), ,C", "a": "1", "b": "2", "C": "3"])
    #expect(FieldHygiene.forwardable(head.headerFields).map(\.value) == ["1"])
    #expect(FieldHygiene.storable(head, rules: privateRules).headerFields.map(\.value) == ["1"])
    #expect(FieldHygiene.connectionOptions([.connection: "close, TE, Keep-Alive, vary, X"]) == ["x"])
  }

  @Test("RFC 9110 §6.5.1 A proxy passes on no trailers for framing, routing or the meaning of a message")
  func forwardableTrailers() throws {
    let trailers = try fields([
      "X-Sum": "1", "Content-Length": "2", "Host": "3", "Cache-Control": "4", "TE": "5", "Set-Cookie": "6",
    ])
    #expect(FieldHygiene.forwardable(trailers: trailers).map(\.value) == ["1"])
  }

  @Test("RFC 9110 §7.6.1 What Connection would hide restricts a 304 and what it freshens, too")
  func connectionInFreshening() throws {
    let kept = try stored(
      200, ["Cache-Control": "max-age=60, must-revalidate", "Connection": "cache-control", "ETag": "\"1\""])
    #expect(try fallback(kept, after: 90) == .fail(.mustRevalidate))
    let fresh = Freshening.updated(
      kept,
      with: ReceivedResponse(try response(304, ["ETag": "\"1\""]), requestTime: today, responseTime: today),
      rules: privateRules)
    #expect(try fallback(fresh, after: 90) == .fail(.mustRevalidate))
    let strict = Freshening.updated(
      kept,
      with: ReceivedResponse(
        try response(304, ["Connection": "cache-control", "Cache-Control": "no-cache"]), requestTime: today,
        responseTime: today), rules: privateRules)
    #expect(try decide(strict, after: 1) == .validate(.responseNoCache))
  }

  @Test(
    "§3.1 Fields of one connection or one proxy are not stored",
    arguments: [
      "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
      "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade",
    ])
  func hopByHop(name: String) throws {
    let head = HTTPResponse(
      status: .ok,
      headerFields: [try #require(HTTPField.Name(name)): "x", .contentLength: "1"])
    #expect(
      FieldHygiene.storable(head, rules: privateRules).headerFields == [.contentLength: "1"])
    #expect(FieldHygiene.forwardable(head.headerFields) == [.contentLength: "1"])
  }

  // holds 9111-5.2.2.4-2
  @Test("§5.2.2.4 The fields of a qualified no-cache are not stored by any cache")
  func qualifiedNoCache() throws {
    let head = try response(
      200, ["Cache-Control": "no-cache=\"a, B\"", "a": "1", "b": "2", "c": "3"])
    for rules in [privateRules, sharedRules] {
      let names = FieldHygiene.storable(head, rules: rules).headerFields.map(\.name.rawName)
      #expect(names == ["Cache-Control", "c"])
    }
  }

  // holds 9111-5.2.2.7-2
  @Test("§5.2.2.7 The fields of a qualified private are not stored by a shared cache")
  func qualifiedPrivate() throws {
    let head = try response(200, ["Cache-Control": "private=\"a\"", "a": "1", "b": "2"])
    #expect(FieldHygiene.storable(head, rules: privateRules) == head)
    #expect(
      FieldHygiene.storable(head, rules: sharedRules).headerFields.map(\.name.rawName)
        == ["Cache-Control", "b"])
  }

  // holds 9530-2-1
  @Test("Fields that describe coded octets are dropped with the coding; the entity tag stays")
  func decoded() throws {
    let stored = try stored(
      200,
      [
        "Content-Encoding": "gzip", "Content-Length": "10", "Content-Digest": "sha-256=:AA==:",
        "Repr-Digest": "sha-256=:AA==:", "ETag": "\"1\"",
      ], isDecoded: true)
    #expect(stored.head.headerFields.map(\.name) == [.eTag, .date])
    #expect(stored.isDecoded)
  }

  @Test("§3.1 What must not be stored of the header must not be stored of the trailer section either")
  func trailers() throws {
    let trailers = try fields([
      "X-Sum": "1", "X-Secret": "2", "X-Private": "3", "X-Hop": "4", "Proxy-Authenticate": "5",
    ])
    let head = try response(
      200, ["Cache-Control": "no-cache=\"X-Secret\", private=\"X-Private\"", "Connection": "x-hop"])
    func kept(_ rules: CacheRules) -> [String] {
      FieldHygiene.storable(trailers: trailers, of: head, rules: rules).map(\.value)
    }
    #expect(kept(privateRules) == ["1", "3"])
    #expect(kept(sharedRules) == ["1"])
  }

  // holds 9110-6.6.1-2
  @Test("RFC 9110 §6.6.1 A missing or invalid Date becomes the time of arrival")
  func date() throws {
    #expect(try stored(200, ["Date": "yesterday"]).head.headerFields[.date] == today.httpDate)
    #expect(try stored(200).head.headerFields[.date] == "Fri, 06 Nov 2020 12:00:00 GMT")
    let said = "Fri, 06 Nov 2020 11:00:00 GMT"
    #expect(try stored(200, ["Date": said]).head.headerFields[.date] == said)
  }

  @Test("§7.3 Request fields reach the store only where Vary names them, secret ones as digests")
  func requestFields() throws {
    let request = try get(["Cookie": "a=b", "Authorization": "Basic x", "Foo": "1", "Bar": "2"])
    let stored = try stored(200, ["Vary": "Cookie, Foo, authorization"], to: request)
    #expect(
      stored.nominated == [
        NominatedField(name: .cookie, value: .digest(Array("b=a".utf8))),
        NominatedField(name: try #require(HTTPField.Name("foo")), value: .text("1")),
        NominatedField(name: .authorization, value: .digest(Array("x cisaB".utf8))),
      ])
    #expect(stored.answeredAuthorized)
    let head = try response(200, ["Vary": "Cookie"])
    #expect(throws: StorageRefusal.varySecret(.cookie)) {
      try StoredResponse.make(
        request: request, response: ReceivedResponse(head, requestTime: today, responseTime: today),
        isDecoded: false, rules: privateRules, digest: { _ in nil })
    }
  }
}
