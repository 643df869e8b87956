import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_1_VaryTests {
  /// Whether a response to a request with `original` fields is selected for one with `presented`.
  private func isSelected(
    vary: String, _ original: KeyValuePairs<String, String>,
    _ presented: KeyValuePairs<String, String>, rules: CacheRules = privateRules
  ) throws -> Bool {
    let kept = try stored(200, ["Vary": vary], to: get(original), rules: rules)
    switch Vary.select(among: [kept], for: try get(presented), rules: rules, digest: reversing) {
    case .selected(0): return true
    default: return false
    }
  }

  // holds 9111-4-3, 9111-4.1-1, 9110-12.5.5-1
  @Test("§4.1 All nominated fields must match, others may differ")
  func match() throws {
    #expect(try isSelected(vary: "Foo", ["Foo": "1"], ["foo": "1", "Bar": "2"]))
    #expect(try isSelected(vary: "foo, Bar", ["Foo": "1", "Bar": "a"], ["Foo": "1", "Bar": "a"]))
    #expect(try !isSelected(vary: "Foo", ["Foo": "1"], ["Foo": "2"]))
    #expect(try !isSelected(vary: "Foo, Bar", ["Foo": "1", "Bar": "a"], ["Foo": "1", "Bar": "b"]))
    #expect(try !isSelected(vary: "Foo", ["Foo": "ab"], ["Foo": "AB"]))
  }

  // holds 9111-4.1-1, 9110-12.5.5-1
  @Test("§4.1 A field that is absent matches only where it is absent too")
  func absent() throws {
    #expect(try isSelected(vary: "Foo, Bar", ["Foo": "1"], ["Foo": "1"]))
    #expect(try !isSelected(vary: "Foo", [:], ["Foo": "1"]))
    #expect(try !isSelected(vary: "Foo", ["Foo": "1"], [:]))
    #expect(try !isSelected(vary: "Foo", [:], ["Foo": ""]))
  }

  // holds 9111-4.1-1
  @Test("§4.1 * anywhere in Vary matches nothing")
  func any() throws {
    for value in ["*", "*, *", ", *", "Foo, *", "*, Foo"] {
      #expect(
        Vary.nominated(
          by: try response(200, ["Vary": value]), in: try get(), rules: privateRules,
          digest: reversing) == .any)
    }
    #expect(
      Vary.nominated(
        by: try response(200, ["Vary": "", "vary": "*"]), in: try get(), rules: privateRules,
        digest: reversing) == .any)
  }

  @Test("§4.1 A Vary that is no list of names, or a huge one, is malformed")
  func malformed() throws {
    for value in ["a b", "a;b", (0..<100).map { "x\($0)" }.joined(separator: ",")] {
      #expect(
        Vary.nominated(
          by: try response(200, ["Vary": value]), in: try get(), rules: privateRules,
          digest: reversing) == .malformed)
    }
  }

  // holds 9111-4.1-1
  @Test("§4.1 Lines are combined, and whitespace around commas does not count")
  func combine() throws {
    #expect(try isSelected(vary: "Foo", ["Foo": "1, 2"], ["Foo": "1", "foo": "2"]))
    #expect(try isSelected(vary: "Foo", ["Foo": "1,2"], ["Foo": "1 ,  2"]))
    #expect(try !isSelected(vary: "Foo", ["Foo": "\"1,2\""], ["Foo": "\"1, 2\""]))
    #expect(try !isSelected(vary: "Foo", ["Foo": "1,2"], ["Foo": "2,1"]))
    #expect(
      try isSelected(
        vary: "Foo", ["Foo": "\"a , b", "foo": "\"c , d\",e"], ["Foo": "\"a , b,\"c,d\",e"]),
      "a quoted string that one line leaves open ends in the next")
    let strict = CacheRules(normalizesVary: false)
    #expect(try isSelected(vary: "Foo", ["Foo": "1, 2"], ["Foo": "1", "foo": "2"], rules: strict))
    #expect(try !isSelected(vary: "Foo", ["Foo": "1,2"], ["Foo": "1, 2"], rules: strict))
  }

  // holds 9111-4.1-1
  @Test("RFC 9110 §12.5 Preferences match whatever their case, spaces and order of equal weight")
  func preferences() throws {
    func language(_ first: String, _ second: String) throws -> Bool {
      try isSelected(
        vary: "Accept-Language", ["Accept-Language": first], ["Accept-Language": second])
    }
    #expect(try language("en, de", "de, en"))
    #expect(try language("en, de", "eN ,   De"))
    #expect(try language("en, de;q=0.5", "de; q=0.500, en;q=1.0"))
    #expect(try !language("en, de", "en, de;q=0.9"))
    #expect(try !language("en, de", "fr;q=0.5, de;q=1.0"))
    #expect(try !language("en;q=x", "en"))
    #expect(
      try isSelected(
        vary: "Accept-Encoding", ["Accept-Encoding": "gzip, br"],
        ["Accept-Encoding": "BR", "accept-encoding": "gzip"]))
    #expect(
      try !isSelected(
        vary: "Accept-Encoding", ["Accept-Encoding": ""], [:]))
    #expect(
      try !isSelected(
        vary: "Accept", ["Accept": "text/html;a=\"X\""], ["Accept": "text/html;a=\"x\""]))
  }

  @Test("§7.3 Secret fields match by their digests")
  func secret() throws {
    #expect(try isSelected(vary: "Cookie", ["Cookie": "a=b"], ["Cookie": "a=b"]))
    #expect(try !isSelected(vary: "Cookie", ["Cookie": "a=b"], ["Cookie": "a=c"]))
    #expect(try !isSelected(vary: "Cookie", ["Cookie": "a=b"], [:]))
    let kept = try stored(200, ["Vary": "Cookie"], to: get(["Cookie": "a=b"]))
    #expect(
      try Vary.select(
        among: [kept], for: get(["Cookie": "a=b"]), rules: privateRules, digest: { _ in nil })
        == .mismatch([.cookie]))
  }

  // holds 9111-4-8
  @Test("§4 Of several matches the most recent by Date is selected, the first of equal ones")
  func mostRecent() throws {
    let old = try stored(200, ["Date": "Fri, 06 Nov 2020 10:00:00 GMT"])
    let new = try stored(200, ["Date": "Fri, 06 Nov 2020 11:00:00 GMT"])
    #expect(select([old, new]) == .selected(1))
    #expect(select([new, old]) == .selected(0))
    #expect(select([new, new]) == .selected(0))
    #expect(select([]) == .nothingStored)
  }

  // holds 9111-4.1-2
  @Test("§4.1 A match with Vary goes before a more recent one without")
  func withVary() throws {
    let plain = try stored(200, ["Date": "Fri, 06 Nov 2020 11:00:00 GMT"])
    let varying = try stored(200, ["Date": "Fri, 06 Nov 2020 10:00:00 GMT", "Vary": "Foo"])
    #expect(select([plain, varying]) == .selected(1))
    #expect(select([varying, plain]) == .selected(0))
  }

  @Test("§4.1 A mismatch names the fields that differ")
  func mismatch() throws {
    let first = try stored(200, ["Vary": "Foo, Bar"], to: get(["Foo": "1"]))
    let second = try stored(200, ["Vary": "Baz"], to: get(["Baz": "1"]))
    let names = ["Foo", "Baz"].compactMap { HTTPField.Name($0) }
    #expect(select([first, second]) == .mismatch(names))
  }

  @Test("RFC 9110 §5.5 Octets outside of ASCII are told apart even where they are no UTF-8")
  func octets() throws {
    let foo = try #require(HTTPField.Name("Foo"))
    func request(_ octets: [UInt8]) -> HTTPRequest {
      HTTPRequest(
        method: .get, scheme: "https", authority: "example.com", path: "/",
        headerFields: HTTPFields([HTTPField(name: foo, value: octets)]))
    }
    let kept = try stored(200, ["Vary": "Foo"], to: request([0xFC]))
    func selection(_ octets: [UInt8]) -> VariantSelection {
      Vary.select(among: [kept], for: request(octets), rules: privateRules, digest: reversing)
    }
    #expect(selection([0xFC]) == .selected(0))
    #expect(selection([0xFD]) == .mismatch([foo]))
    #expect(selection([0xC3, 0xBC]) == .mismatch([foo]))
  }

  private func select(_ stored: [StoredResponse]) -> VariantSelection {
    Vary.select(
      among: stored,
      for: HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/"),
      rules: privateRules, digest: reversing)
  }
}
