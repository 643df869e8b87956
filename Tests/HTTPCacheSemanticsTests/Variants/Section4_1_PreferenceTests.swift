import HTTPCacheFuzzing
import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_1_PreferenceTests {
  private static let names = ["Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language"]

  private func request(_ name: HTTPField.Name, _ lines: [[UInt8]]) -> HTTPRequest {
    var fields = HTTPFields()
    for line in lines { fields.append(HTTPField(name: name, lenientValue: line)) }
    return HTTPRequest(
      method: .get, scheme: "https", authority: "example.com", path: "/", headerFields: fields)
  }

  private func nominated(_ name: String, _ request: HTTPRequest) throws -> [NominatedField] {
    let result = Vary.nominated(
      by: try response(200, ["Vary": name]), in: request, rules: privateRules, digest: reversing)
    guard case .fields(let fields) = result else { return [] }
    return fields
  }

  @Test("RFC 9110 §12.5 The normal form: by weight, then by text; short weights; names in lower case")
  func normalForm() throws {
    let forms: [(String, String)] = [
      ("gzip, deflate, br", "br,deflate,gzip"), ("GZIP;q=1.000 , br ;Q=0.50", "gzip,br;q=0.5"),
      ("a;q=0, b;q=0.123, c;q=0.010", "b;q=0.123,c;q=0.01,a;q=0"), ("ab, a, abc", "a,ab,abc"),
      ("text/html;Level=1;q=0.4, */*", "*/*,text/html;Level=1;q=0.4"), ("", ""), (", ,", ""),
      ("a;x=\",b;q=0\", B", "a;x=\",b;q=0\",b"), ("a;q=2, b", "a;q=2,b"), ("a;q=0.2;q=0.3", "a;q=0.3"),
      ("b, a;x=\"", "b,a;x=\""),
    ]
    for (value, form) in forms {
      let name = try #require(HTTPField.Name("Accept"))
      let fields = try nominated("Accept", request(name, [Array(value.utf8)]))
      #expect(fields == [NominatedField(name: name, value: .text(form))], "\(value)")
    }
  }

  @Test("§4.1 A request matches exactly where its nominated values would be stored as the same")
  func consistency() throws {
    var random = Seeded(seed: 41)
    var matches = 0
    for _ in 0..<1_000 {
      let text = Self.names.randomElement(using: &random, orElse: "Accept")
      let name = try #require(HTTPField.Name(text))
      let original = (0..<Int.random(in: 1...2, using: &random)).map { _ in
        PropertyTests.octets(&random)
      }
      // An equal list in another order, as one line, or a different value.
      let members = original.joined(separator: [0x2C]).split(separator: 0x2C).shuffled(using: &random)
      let other =
        Int.random(in: 0..<4, using: &random) == 0
        ? PropertyTests.octets(&random) : Array(members.joined(separator: [0x2C, 0x20]))
      let stored = StoredResponse(
        requestMethod: .get, nominated: try nominated(text, request(name, original)),
        head: try response(), requestTime: today, responseTime: today,
        facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
      let presented = request(name, [other])
      let isMatch = Vary.matches(stored, request: presented, rules: privateRules, digest: reversing)
      #expect(isMatch == (try nominated(text, presented) == stored.nominated))
      if isMatch { matches += 1 }
    }
    #expect(matches > 100, "the sample shall hold both")
    #expect(matches < 900)
  }

  @Test("§4.1 More than 256 preferences are compared as they are")
  func many() throws {
    for (count, isSorted) in [(256, true), (257, false)] {
      let name = try #require(HTTPField.Name("Accept-Language"))
      let lines = (0..<count).map { Array("l\(9_999 - $0)".utf8) }
      let value = try #require(try nominated("Accept-Language", request(name, lines)).first?.value)
      guard case .text(let text) = value else {
        Issue.record("\(value)")
        continue
      }
      #expect(text.hasPrefix("l9999,") != isSorted)
      #expect(text.utf8.count > 4 * count)
    }
  }
}
