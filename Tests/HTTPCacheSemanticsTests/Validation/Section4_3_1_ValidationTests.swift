import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_3_1_ValidationTests {
  private let modified = "Fri, 06 Nov 2020 10:00:00 GMT"

  // holds 9111-4.3.1-1, 9111-4.3.1-2
  @Test("§4.3.1 A single candidate is asked for by entity tag and by date")
  func single() throws {
    let kept = try stored(200, ["ETag": "W/\"1\"", "Last-Modified": modified])
    let request = Validation.request(
      try get(["Foo": "1"]), validating: [kept], policy: .standard)
    #expect(
      try request.headerFields
        == fields(["Foo": "1", "If-None-Match": "W/\"1\"", "If-Modified-Since": modified]))
  }

  // holds 9111-4.3.1-1, 9110-13.1.2-2
  @Test("§4.3.1 Several candidates are asked for by all their tags, each once, and no date")
  func several() throws {
    let candidates = [
      try stored(200, ["ETag": "\"1\"", "Last-Modified": modified]),
      try stored(200, ["ETag": "W/\"2\""]), try stored(200, ["ETag": "\"1\""]),
      try stored(200, ["ETag": "broken"]),
    ]
    let request = Validation.request(try get(), validating: candidates, policy: .standard)
    #expect(try request.headerFields == fields(["If-None-Match": "\"1\", W/\"2\""]))
  }

  // holds 9111-4.3.2-3
  @Test("§4.3.1 The client's own conditions and range are replaced, without candidates they stay")
  func replaced() throws {
    let pairs: KeyValuePairs = [
      "If-None-Match": "\"x\"", "If-Modified-Since": modified, "Range": "bytes=0-1",
      "If-Range": "\"x\"",
    ]
    let kept = try stored(200, ["ETag": "\"1\""])
    #expect(
      try Validation.request(get(pairs), validating: [kept], policy: .standard).headerFields
        == fields(["If-None-Match": "\"1\""]))
    #expect(
      try Validation.request(get(pairs), validating: [], policy: .standard) == get(pairs))
  }

  // holds 9111-5.2.1.1-1
  @Test("reloadEverywhere and revalidate speak to the caches on the way, reload does not")
  func policies() throws {
    func sent(_ policy: CachePolicy, _ pairs: KeyValuePairs<String, String>) throws -> HTTPFields {
      Validation.request(try get(pairs), validating: [], policy: policy).headerFields
    }
    #expect(
      try sent(.reloadEverywhere, [:])
        == fields(["Cache-Control": "no-cache", "Pragma": "no-cache"]))
    #expect(
      try sent(.reloadEverywhere, ["Cache-Control": "no-transform"])[.cacheControl]
        == "no-transform, no-cache")
    #expect(try sent(.revalidate, [:]) == fields(["Cache-Control": "max-age=0"]))
    #expect(try sent(.reload, [:]).isEmpty)
  }

  @Test("§4.3.1 What does not match is named by a strong tag of its own, in a coding that is accepted")
  func mismatched() throws {
    func isNamed(
      _ pairs: KeyValuePairs<String, String>, others: [StoredResponse] = [],
      _ request: KeyValuePairs<String, String> = [:]
    ) throws -> Bool {
      Validation.mayName(
        mismatched: 0, among: [try stored(200, pairs)] + others, for: try get(request))
    }
    #expect(try isNamed(["ETag": "\"1\""]))
    #expect(try !isNamed(["ETag": "W/\"1\""]) && !isNamed(["Last-Modified": modified]))
    #expect(try !isNamed(["ETag": "\"1\"", "etag": "\"2\""]))
    let other = try stored(200, ["ETag": "\"1\"", "Content-Encoding": "br"])
    #expect(try !isNamed(["ETag": "\"1\""], others: [other]))
    #expect(try isNamed(["ETag": "\"2\""], others: [other]))
    #expect(try isNamed(["ETag": "\"1\""], others: [try stored(200, ["ETag": "\"1\""])]))
    let coded: KeyValuePairs = ["ETag": "\"1\"", "Content-Encoding": "gzip"]
    for value in ["gzip", "br, GZIP;q=0.5", "*", "identity, *;q=0.1"] {
      #expect(try isNamed(coded, ["Accept-Encoding": value]))
    }
    for value in ["identity", "br", "gzip;q=0", "*, gzip; Q=0.000", "*;q=0", ""] {
      #expect(try !isNamed(coded, ["Accept-Encoding": value]))
    }
    #expect(try !isNamed(coded))
  }

  @Test("§4.3.1 The date of a single candidate is not sent where the request does not match it")
  func mismatchedDate() throws {
    let kept = try stored(200, ["ETag": "\"1\"", "Last-Modified": modified])
    let request = Validation.request(try get(), validating: [kept], matches: false, policy: .standard)
    #expect(try request.headerFields == fields(["If-None-Match": "\"1\""]))
  }

  @Test("§4.3.1 A validator is a well-formed tag or date")
  func validators() throws {
    #expect(Validation.hasValidator(try stored(200, ["ETag": "\"\""])))
    #expect(Validation.hasValidator(try stored(200, ["Last-Modified": modified])))
    #expect(!Validation.hasValidator(try stored(200, ["ETag": "1", "Last-Modified": "foo"])))
  }

  // holds 9111-4.3.1-1
  @Test("RFC 9110 §8.8.3 A tag with octets that are no UTF-8 is sent back as it came")
  func octets() throws {
    var kept = try stored(200)
    kept.head.headerFields.append(HTTPField(name: .eTag, value: [0x22, 0xFC, 0x22]))
    let request = Validation.request(try get(), validating: [kept], policy: .standard)
    let sent = try #require(request.headerFields.first { $0.name == .ifNoneMatch })
    #expect(sent.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xFC, 0x22])
  }
}
