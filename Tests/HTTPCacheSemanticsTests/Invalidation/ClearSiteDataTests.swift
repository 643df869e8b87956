import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("W3C Clear Site Data", .timeLimit(.minutes(10)))
struct ClearSiteDataTests {
  private func clears(
    _ values: String..., target: String = "https://example.com/", rules: CacheRules = privateRules
  ) throws -> Bool {
    var response = HTTPResponse(status: .ok)
    for value in values {
      response.headerFields.append(
        HTTPField(name: try #require(HTTPField.Name("Clear-Site-Data")), value: value))
    }
    return ClearSiteData.clearsCache(response, target: target, rules: rules)
  }

  @Test("\"cache\" and \"*\" clear the cache, in any place of the list")
  func clearing() throws {
    #expect(try clears("\"cache\""))
    #expect(try clears("\"*\""))
    #expect(try clears("\"cookies\", \"cache\""))
    #expect(try clears("\"cookies\"", "\"cache\""))
  }

  @Test(
    "Other types, and what is no quoted string, do not",
    arguments: ["\"cookies\"", "cache", "*", "\"Cache\"", "\"cache", "cache\"", "\"cookies, cache\"", ""])
  func others(value: String) throws {
    #expect(try !clears(value))
    #expect(try !clears())
  }

  @Test("Only as many members as the limit says are read")
  func limit() throws {
    let others = Array(repeating: "\"cookies\"", count: ClearSiteData.memberLimit - 1)
    #expect(try clears((others + ["\"cache\""]).joined(separator: ",")))
    #expect(try !clears((others + ["\"cookies\"", "\"cache\""]).joined(separator: ",")))
  }

  @Test("It counts over https, in a private cache, and unless rules say otherwise")
  func whereItCounts() throws {
    #expect(try !clears("\"cache\"", target: "http://example.com/"))
    #expect(try !clears("\"cache\"", rules: sharedRules))
    #expect(try !clears("\"cache\"", rules: CacheRules(obeysClearSiteData: false)))
  }

  @Test("An explanation says that the response clears and is not stored")
  func explanation() throws {
    let explanation = CacheExplanation.storage(
      request: try get(),
      response: try response(200, ["Cache-Control": "max-age=60", "Clear-Site-Data": "\"*\""]),
      rules: privateRules, now: today)
    #expect(explanation.steps.last?.answer == "no: Clear-Site-Data")
  }
}
