import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_2_3_AgeTests {
  private func initialAge(
    _ pairs: KeyValuePairs<String, String>, delay: Int64 = 0
  ) throws -> Int64 {
    Freshness.facts(
      response: try response(200, pairs), requestTime: today.adding(-delay), responseTime: today,
      rules: privateRules
    ).correctedInitialAge
  }

  // holds 9111-4.2.3-1, 9111-4.2.3-2
  @Test("§4.2.3 The age on arrival is the greater of apparent and corrected age")
  func initial() throws {
    #expect(try initialAge(["Date": "Fri, 06 Nov 2020 11:59:00 GMT", "Age": "30"]) == 60)
    #expect(try initialAge(["Date": "Fri, 06 Nov 2020 11:59:00 GMT", "Age": "90"]) == 90)
    #expect(try initialAge(["Age": "90"], delay: 5) == 95)
    #expect(try initialAge(["Date": "Fri, 06 Nov 2020 13:00:00 GMT"]) == 0)
    #expect(try initialAge(["Date": "Fri, 06 Nov 2020 13:00:00 GMT", "Age": "15"]) == 15)
    #expect(try initialAge([:], delay: -5) == 0)
  }

  // holds 9111-5.1-2
  @Test(
    "§5.1 An Age that is no number of seconds is ignored",
    arguments: ["abc", "-7200", "7200.0", "7200;foo=bar", "\"7200\"", "", "7200 0"])
  func invalid(value: String) throws {
    #expect(try initialAge(["Age": value]) == 0)
  }

  // holds 9111-5.1-1
  @Test("§5.1 Of a list or of several lines the first counts")
  func list() throws {
    #expect(try initialAge(["Age": "7200, 0"]) == 7200)
    #expect(try initialAge(["Age": "0, 7200"]) == 0)
    #expect(try initialAge(["Age": "7200", "age": "0"]) == 7200)
    #expect(try initialAge(["Age": "0", "age": "7200"]) == 0)
  }

  // holds 9111-1.2.2-2
  @Test("§1.2.2 Huge ages saturate and stay stale")
  func huge() throws {
    for value in ["2147483647", "2147483648", "2147483649", "99999999999999999999999"] {
      let kept = try stored(200, ["Cache-Control": "max-age=3600", "Age": value])
      #expect(Age.current(kept, now: Timestamp(seconds: .max)) > 3600)
      #expect(
        try decide(kept, after: 0)
          == .validate(.stale(age: .seconds(Age.current(kept, now: today)), lifetime: .seconds(3600))))
    }
  }

  // holds 9111-4.2.3-2
  @Test("§4.2.3 The time in the store is added; a clock that was set back adds nothing")
  func resident() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=3600", "Age": "30"])
    #expect(Age.current(kept, now: today.adding(12)) == 42)
    #expect(Age.current(kept, now: today.adding(-86_400)) == 30)
    #expect(Age.current(kept, now: Timestamp(seconds: .min)) == 30)
  }

  @Test("§4.2.1 The Date of a slow or fast clock does not make an old response fresh")
  func clocks() throws {
    for (date, expires, age) in [
      ("Fri, 06 Nov 2020 11:59:50 GMT", "Fri, 06 Nov 2020 12:00:10 GMT", "25"),
      ("Fri, 06 Nov 2020 12:00:10 GMT", "Fri, 06 Nov 2020 12:00:20 GMT", "15"),
    ] {
      let kept = try stored(200, ["Date": date, "Expires": expires, "Age": age])
      #expect(kept.facts.freshnessLifetime <= Age.current(kept, now: today))
    }
  }
}
