import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_2_1_LifetimeTests {
  private func lifetime(
    _ pairs: KeyValuePairs<String, String>, rules: CacheRules = privateRules
  ) throws -> (Int64, ReuseFacts.LifetimeSource) {
    let facts = Freshness.facts(
      response: try response(200, pairs), requestTime: today, responseTime: today, rules: rules)
    return (facts.freshnessLifetime, facts.lifetimeSource)
  }

  // holds 9111-4.2.1-1, 9111-5.3-2, 9111-5.3-3
  @Test("§4.2.1 s-maxage in a shared cache goes before max-age, which goes before Expires")
  func order() throws {
    let all: KeyValuePairs = [
      "Cache-Control": "max-age=10, s-maxage=20", "Expires": "Fri, 06 Nov 2020 12:00:30 GMT",
    ]
    #expect(try lifetime(all) == (10, .maxAge))
    #expect(try lifetime(all, rules: sharedRules) == (20, .sMaxAge))
    #expect(try lifetime(["Cache-Control": "s-maxage=20"]) == (0, .none))
    #expect(
      try lifetime([
        "Expires": "Fri, 06 Nov 2020 12:00:30 GMT", "Date": "Fri, 06 Nov 2020 11:59:50 GMT",
      ]) == (40, .expires))
  }

  // holds 9111-4.2.1-1
  @Test("§4.2.1 Expires without a valid Date counts from the time of arrival")
  func expiresWithoutDate() throws {
    #expect(try lifetime(["Expires": "Fri, 06 Nov 2020 12:00:30 GMT"]) == (30, .expires))
    #expect(
      try lifetime(["Expires": "Fri, 06 Nov 2020 12:00:30 GMT", "Date": "foo"]) == (30, .expires))
  }

  // holds 9111-4.2-4, 9111-4.2.2-1, 9111-5.3-1
  @Test("§5.3 Expires in the past or in no valid format is no lifetime, and no heuristic either")
  func expired() throws {
    for value in ["0", "", "Fri, 06 Nov 2020 11:00:00 GMT", "Fri, 06 Nov 2020 12:30:00 UTC"] {
      #expect(
        try lifetime(["Expires": value, "Last-Modified": "Mon, 06 Nov 2000 12:00:00 GMT"])
          == (0, .expires))
    }
  }

  // holds 9111-4.2.1-2
  @Test("§4.2.1 What is said twice differently is stale, said twice alike it counts")
  func duplicates() throws {
    #expect(try lifetime(["Cache-Control": "max-age=1800, max-age=1"]) == (0, .maxAge))
    #expect(
      try lifetime(["Cache-Control": "max-age=1", "cache-control": "max-age=1800"])
        == (0, .maxAge))
    #expect(try lifetime(["Cache-Control": "max-age=60, max-age=60"]) == (60, .maxAge))
    #expect(
      try lifetime([
        "Expires": "Fri, 06 Nov 2020 12:00:30 GMT", "expires": "Fri, 06 Nov 2020 12:00:31 GMT",
      ]) == (0, .expires))
  }

  // holds 9111-4.2.1-2, 9111-5.3-2
  @Test(
    "§4.2.1 A malformed max-age is stale",
    arguments: [
      "max-age", "max-age=", "max-age=abc", "max-age=-1", "max-age=3600.0", "max-age=3600a",
      "max-age='3600'", "max-age= 3600", "max-age =3600", "max-age=\"3600", "max-age=3600 1",
    ])
  func malformed(value: String) throws {
    #expect(
      try lifetime(["Cache-Control": value, "Expires": "Fri, 06 Nov 2020 13:00:00 GMT"])
        == (0, .maxAge))
  }

  // holds 9111-1.2.2-1, 9111-1.2.2-2, 9111-5.2-2
  @Test("§1.2.2 Leading zeros, quotes and numbers of any size are taken")
  func wellFormed() throws {
    #expect(try lifetime(["Cache-Control": "max-age=003600"]) == (3600, .maxAge))
    #expect(try lifetime(["Cache-Control": "max-age=\"3600\""]) == (3600, .maxAge))
    #expect(try lifetime(["Cache-Control": "MaX-aGe=3600"]) == (3600, .maxAge))
    #expect(try lifetime(["Cache-Control": "max-age=2147483649"]) == (2_147_483_649, .maxAge))
    let huge = try lifetime(["Cache-Control": "max-age=99999999999999999999999999"])
    #expect(huge.0 >= 2_147_483_648 && huge.1 == .maxAge)
  }

  @Test("§5.2 Quoted arguments hide what is in them")
  func quoted() throws {
    #expect(
      try lifetime(["Cache-Control": "extension=\"max-age=3600\", max-age=1"]) == (1, .maxAge))
    #expect(
      try lifetime(["Cache-Control": "max-age=1, extension=\"a\\\", max-age=3600\""])
        == (1, .maxAge))
  }
}
