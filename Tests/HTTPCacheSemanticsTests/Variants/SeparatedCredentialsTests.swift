import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("Credentials that separate responses, as if Vary named them", .timeLimit(.minutes(10)))
struct SeparatedCredentialsTests {
  private let rules = CacheRules(separatesCredentials: true)
  private let anna: KeyValuePairs = ["Authorization": "Bearer anna"]
  private let bert: KeyValuePairs = ["Authorization": "Bearer bert"]

  private func selects(
    _ stored: StoredResponse, _ presented: KeyValuePairs<String, String>, _ rules: CacheRules
  ) throws -> Bool {
    Vary.select(among: [stored], for: try get(presented), rules: rules, digest: reversing) == .selected(0)
  }

  @Test("equal credentials, and equal absence, select; others do not")
  func separated() throws {
    let ofAnna = try stored(200, ["Cache-Control": "max-age=60"], to: get(anna), rules: rules)
    #expect(try selects(ofAnna, anna, rules))
    #expect(try !selects(ofAnna, bert, rules))
    #expect(try !selects(ofAnna, [:], rules))
    let ofNoOne = try stored(200, ["Cache-Control": "max-age=60"], to: get(), rules: rules)
    #expect(try selects(ofNoOne, [:], rules))
    #expect(try !selects(ofNoOne, anna, rules))
    #expect(
      try Vary.select(among: [ofAnna], for: get(bert), rules: rules, digest: reversing)
        == .mismatch([.authorization]))
  }

  @Test("cookies separate as Authorization does, also together with a Vary of the origin's")
  func cookies() throws {
    let anna: KeyValuePairs = ["Cookie": "id=anna"]
    let plain: KeyValuePairs = ["Cache-Control": "max-age=60"]
    for fields in [plain, ["Cache-Control": "max-age=60", "Vary": "Authorization"]] {
      let ofAnna = try stored(200, fields, to: get(anna), rules: rules)
      #expect(try selects(ofAnna, anna, rules))
      #expect(try !selects(ofAnna, ["Cookie": "id=bert"], rules))
      #expect(try !selects(ofAnna, [:], rules))
      #expect(try !selects(stored(200, fields, to: get(), rules: rules), anna, rules))
    }
  }

  @Test("without the rule a private cache reuses a response whatever the credentials")
  func together() throws {
    let ofAnna = try stored(200, ["Cache-Control": "max-age=60"], to: get(anna))
    #expect(ofAnna.nominated.isEmpty)
    #expect(try selects(ofAnna, bert, privateRules))
  }

  @Test("a response with public answers any credentials")
  func everybody() throws {
    let kept = try stored(200, ["Cache-Control": "public, max-age=60"], to: get(anna), rules: rules)
    #expect(kept.nominated.isEmpty)
    #expect(try selects(kept, bert, rules))
    #expect(try selects(kept, [:], rules))
  }

  @Test("credentials are kept as digests, and without a digest nothing is stored")
  func digests() throws {
    let request = try get(anna)
    let head = try response(200, ["Cache-Control": "max-age=60"])
    let kept = try stored(200, ["Cache-Control": "max-age=60"], to: request, rules: rules)
    guard case .digest? = kept.nominated.first?.value else {
      Issue.record("no digest")
      return
    }
    #expect(
      Vary.nominated(by: head, in: request, rules: rules, digest: { _ in nil })
        == .secretWithoutDigest(.authorization))
  }

  @Test("a response stored before the rule was set answers no credentials")
  func earlier() throws {
    let ofAnna = try stored(200, ["Cache-Control": "max-age=60"], to: get(anna))
    #expect(try !selects(ofAnna, anna, rules))
    #expect(try !selects(ofAnna, [:], rules))
    let ofNoOne = try stored(200, ["Cache-Control": "max-age=60"], to: get())
    #expect(try selects(ofNoOne, [:], rules))
    #expect(try !selects(ofNoOne, anna, rules))
  }

  @Test("an override that ignores Vary does not join accounts")
  func override() throws {
    var rules = rules
    rules.overrides = [RuleOverride(try .glob("/**"), effects: [.ignoringVary([])])]
    let plain: KeyValuePairs = ["Cache-Control": "max-age=60"]
    let varying: KeyValuePairs = ["Cache-Control": "max-age=60", "Vary": "Authorization"]
    for fields in [plain, varying] {
      let ofAnna = try stored(200, fields, to: get(anna), rules: rules)
      let resolved = rules.resolved(for: try get(bert))
      #expect(try !selects(ofAnna, bert, resolved))
      #expect(try selects(ofAnna, anna, resolved))
    }
  }
}
