import HTTPCacheTesting
import HTTPCaching
import Testing

/// Which stored variants a 304 may confirm for which request.
@Suite("A 304 confirms only what the request matches (RFC 9111 §4.1, §4.3.4)", .timeLimit(.minutes(10)))
struct VariantConfirmationTests {
  private let test = TestCache()
  private let date = "Tue, 14 Nov 2023 20:00:00 GMT"

  private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

  /// An origin that answers each value of `field` with a body of that name, and validations with 304.
  private func serve(
    varying field: HTTPField.Name, tag: @escaping @Sendable (String) -> String?,
    confirming: HTTPFields? = nil
  ) {
    test.origin.answers { [date] request, _ in
      let value = request.headerFields[field] ?? "none"
      var fields: HTTPFields = [
        .cacheControl: "max-age=10", .vary: field.rawName, .lastModified: date,
      ]
      fields[.eTag] = tag(value)
      if field == .acceptEncoding, value != "identity" { fields[.contentEncoding] = value }
      let isConditional =
        request.headerFields[.ifNoneMatch] != nil || request.headerFields[.ifModifiedSince] != nil
      return isConditional ? (304, confirming ?? fields, "") : (200, fields, value)
    }
  }

  private func asked(_ number: Int) -> HTTPFields {
    let requests = test.origin.requests
    return requests.indices.contains(number) ? requests[number].headerFields : [:]
  }

  @Test("§4.3.4 Codings that share a weak tag: a request for one never gets the body of the other")
  func sharedWeakTag() async throws {
    serve(varying: .acceptEncoding) { _ in "W/\"1\"" }
    for coding in ["identity", "gzip"] { try await test.get("/", [.acceptEncoding: coding]) }
    test.clock.advance(by: 20)
    for coding in ["identity", "gzip"] {
      let answer = try await test.get("/", [.acceptEncoding: coding])
      #expect(answer.text == coding)
      #expect(answer.head.headerFields[.contentEncoding] == (coding == "gzip" ? "gzip" : nil))
    }
  }

  @Test("§4.1 A weak tag of another variant is not offered, so its body answers no other request")
  func weaklyTaggedMismatch() async throws {
    serve(varying: .acceptEncoding) { _ in "W/\"1\"" }
    try await test.get("/", [.acceptEncoding: "gzip"])
    let answer = try await test.get("/", [.acceptEncoding: "identity"])
    #expect(answer.text == "identity")
    #expect(asked(1)[.ifNoneMatch] == nil && asked(1)[.ifModifiedSince] == nil)
  }

  @Test("§4.3.4 A 304 with nothing but Last-Modified confirms the variant that matches")
  func onlyLastModified() async throws {
    serve(varying: .acceptLanguage, tag: { "\"\($0)\"" }, confirming: [.lastModified: date])
    for language in ["de", "fr"] { try await test.get("/", [.acceptLanguage: language]) }
    test.clock.advance(by: 20)
    for language in ["de", "fr"] {
      #expect(try await test.get("/", [.acceptLanguage: language]).text == language)
    }
  }

  @Test("§4.3.4 A date confirms no variant that does not match, nor does a 304 that says nothing")
  func bareMismatch() async throws {
    let confirmations: [HTTPFields] = [[:], [.lastModified: date], [.eTag: "W/\"de\""]]
    for confirming in confirmations {
      let test = TestCache()
      test.origin.answers { [date] request, _ in
        let value = request.headerFields[.acceptLanguage] ?? "none"
        let fields: HTTPFields = [
          .cacheControl: "max-age=10", .vary: "Accept-Language", .eTag: "\"\(value)\"",
          .lastModified: date,
        ]
        return request.headerFields[.ifNoneMatch] != nil
          ? (304, confirming, "") : (200, fields, value)
      }
      try await test.get("/", [.acceptLanguage: "de"])
      #expect(try await test.get("/", [.acceptLanguage: "fr"]).text == "fr")
      #expect(test.origin.requests.count == 3)
      #expect(test.origin.requests[1].headerFields[.ifModifiedSince] == nil)
    }
  }

  @Test("§4.3.1, RFC 9110 §8.8.3.3 A strong tag confirms a variant of other fields, for this request")
  func strongMismatch() async throws {
    serve(varying: .acceptLanguage) { _ in "\"same\"" }
    try await test.get("/", [.acceptLanguage: "de"])
    test.clock.advance(by: 20)
    let answer = try await test.get("/", [.acceptLanguage: "de-AT"])
    #expect(answer.text == "de")
    #expect(asked(1)[.ifNoneMatch] == "\"same\"")
    // Only what could have been chosen is updated: the request for "de" is validated for itself.
    try await test.get("/", [.acceptLanguage: "de"])
    #expect(test.origin.requests.count == 3)
  }

  @Test("RFC 9110 §8.8.3.3 A strong tag that codings share confirms none that does not match")
  func sharedStrongTag() async throws {
    serve(varying: .acceptEncoding) { _ in "\"1\"" }
    for coding in ["gzip", "br"] { try await test.get("/", [.acceptEncoding: coding]) }
    for coding in ["identity", "gzip, br", "deflate"] {
      #expect(try await test.get("/", [.acceptEncoding: coding]).text == coding)
    }
    test.clock.advance(by: 20)
    for coding in ["gzip", "br", "identity"] {
      #expect(try await test.get("/", [.acceptEncoding: coding]).text == coding)
    }
  }

  @Test("RFC 9110 §12.5.3 A coding that the request does not accept is not offered by its strong tag")
  func unacceptedCoding() async throws {
    serve(varying: .acceptEncoding) { _ in "\"1\"" }
    try await test.get("/", [.acceptEncoding: "gzip"])
    let refusing: [HTTPFields] = [
      [.acceptEncoding: "identity"], [.acceptEncoding: "br, gzip;q=0"], [.acceptEncoding: "*;q=0.0"], [:],
    ]
    for fields in refusing {
      #expect(try await test.get("/", fields).head.headerFields[.contentEncoding] != "gzip")
      #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == nil)
    }
  }

  @Test("§4.3.4 A 304 to several tags that names none confirms none")
  func severalTagsAndNone() async throws {
    serve(varying: .acceptLanguage, tag: { "\"\($0)\"" }, confirming: [:])
    for language in ["de", "fr"] { try await test.get("/", [.acceptLanguage: language]) }
    test.clock.advance(by: 20)
    #expect(try await test.get("/", [.acceptLanguage: "de"]).text == "de")
    #expect(asked(3)[.ifNoneMatch] == "\"de\", \"fr\"")
    #expect(asked(4)[.ifNoneMatch] == nil)
  }

  @Test("§4.3.5 HEAD freshens only what it could have chosen, whatever weak tag it has")
  func head() async throws {
    test.origin.answers { [date] request, _ in
      let value = request.headerFields[.acceptEncoding] ?? "none"
      let fields: HTTPFields = [
        .cacheControl: "max-age=10", .vary: "Accept-Encoding", .eTag: "W/\"1\"", .lastModified: date,
      ]
      return (200, fields, request.method == .head ? "" : value)
    }
    for coding in ["identity", "gzip"] { try await test.get("/", [.acceptEncoding: coding]) }
    test.clock.advance(by: 8)
    try await test.get("/", [.acceptEncoding: "gzip"], method: .head, policy: .reload)
    test.clock.advance(by: 8)
    #expect(
      try await test.get("/", [.acceptEncoding: "gzip"]).outcome
        == .hit(age: .seconds(8), lifetime: .seconds(10), allowance: nil))
    try await test.get("/", [.acceptEncoding: "identity"])
    #expect(test.origin.requests.count == 4, "the other one was stale all along")
  }

  @Test("a reload asks about nothing that is stored, of whatever variant")
  func reload() async throws {
    serve(varying: .acceptLanguage) { "\"\($0)\"" }
    try await test.get("/", [.acceptLanguage: "de"])
    for policy in [CachePolicy.reload, .reloadEverywhere] {
      #expect(try await test.get("/", [.acceptLanguage: "fr"], policy: policy).text == "fr")
    }
    #expect(test.origin.requests.allSatisfy { $0.headerFields[.ifNoneMatch] == nil })
  }

  @Test("§3.5 The answer to an authorized request is not offered to others of another variant")
  func authorized() async throws {
    let test = TestCache(rules: CacheRules(mode: .shared))
    test.origin.answers { request, _ in
      let fields: HTTPFields = [
        .cacheControl: request.headerFields[.authorization] == nil ? "max-age=10" : "public, max-age=10",
        .vary: "Accept-Language", .eTag: "\"same\"",
      ]
      return request.headerFields[.ifNoneMatch] != nil
        ? (304, [.cacheControl: "max-age=10", .eTag: "\"same\""], "")
        : (200, fields, request.headerFields[.acceptLanguage] ?? "none")
    }
    try await test.get("/", [.acceptLanguage: "de", .authorization: "x"])
    test.clock.advance(by: 20)
    // The 304 takes the permission away.
    try await test.get("/", [.acceptLanguage: "de"])
    #expect(try await test.get("/", [.acceptLanguage: "fr"]).text == "fr")
  }

  @Test("what is stale and does not match stands in for no origin that fails")
  func fallback() async throws {
    serve(varying: .acceptLanguage) { "\"\($0)\"" }
    try await test.get("/", [.acceptLanguage: "de"])
    test.clock.advance(by: 20)
    test.origin.fails(.unreachable)
    for policy in [CachePolicy.standard, .networkElseCache(), .cacheElseNetwork] {
      await #expect(throws: UpstreamError.self) {
        try await test.get("/", [.acceptLanguage: "fr"], policy: policy)
      }
    }
    #expect(try await test.get("/", [.acceptLanguage: "fr"], policy: .cacheOnly).status == 504)
  }
}
