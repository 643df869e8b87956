import HTTPCacheFuzzing
import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RFC9110_5_6_7_DateTests {
  private func parsed(_ text: String, now: Timestamp = today) -> Int64? {
    Timestamp(httpDate: text, relativeTo: now)?.seconds
  }

  @Test("RFC 9110 §5.6.7 The three formats of the same second")
  func formats() {
    #expect(parsed("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    #expect(parsed("Sunday, 06-Nov-94 08:49:37 GMT") == 784_111_777)
    #expect(parsed("Sun Nov  6 08:49:37 1994") == 784_111_777)
    #expect(parsed("Thu Aug 18 02:01:18 2050") == 2_544_400_878)
  }

  // holds 9111-4.2-1
  @Test("RFC 9111 §4.2 Letter case does not matter, nor does a wrong day of the week")
  func tolerated() {
    #expect(parsed("SUN, 06 NOV 1994 08:49:37 gmt") == 784_111_777)
    #expect(parsed("Mon, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    #expect(parsed("monday, 06-nov-94 08:49:37 Gmt") == 784_111_777)
  }

  // holds 9111-4.2-4
  @Test(
    "RFC 9110 §5.6.7 Anything else is no date",
    arguments: [
      "", "0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
      "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
      "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
      "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18 GMT ", "Thu, 31 Jun 2050 02:01:18 GMT",
      "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT",
      "Thu, 18 Aug 2050 02:60:18 GMT", "Thu, 18 Aug 2050 02:01:61 GMT",
      "Xxx, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Xxx 2050 02:01:18 GMT",
      "Tue, 29 Feb 2022 00:00:00 GMT", "Thursday, 18-Aug-2050 02:01:18 GMT",
      "Sun Nov 06  8:49:37 1994", "Thu, 18 Aug 20 50 02:01:18 GMT", "2050-08-18T02:01:18Z",
      "Thu, +8 Aug 2050 02:01:18 GMT",
    ])
  func invalid(text: String) {
    #expect(parsed(text) == nil)
  }

  @Test("RFC 9110 §5.6.7 Two digits of a year mean the last such time within 50 years ahead")
  func twoDigitYears() {
    #expect(parsed("Thursday, 18-Aug-50 02:01:18 GMT") == 2_544_400_878)
    #expect(
      parsed("Friday, 06-Nov-70 12:00:00 GMT") == parsed("Thu, 06 Nov 2070 12:00:00 GMT"))
    #expect(
      parsed("Friday, 06-Nov-70 12:00:01 GMT") == parsed("Fri, 06 Nov 1970 12:00:01 GMT"))
    #expect(
      parsed("Friday, 29-Feb-00 00:00:00 GMT") == parsed("Tue, 29 Feb 2000 00:00:00 GMT"))
    let nineties = Timestamp(seconds: 3_950_000_000)
    #expect(
      parsed("Monday, 06-Jan-05 00:00:00 GMT", now: nineties)
        == parsed("Mon, 06 Jan 2105 00:00:00 GMT"))
    for seconds in [Int64.min, .max] {
      #expect(parsed("Monday, 06-Jan-05 00:00:00 GMT", now: Timestamp(seconds: seconds)) != nil)
    }
  }

  // holds 9111-4.2-2
  @Test("RFC 9110 §5.6.7 A leap second counts as the second before it")
  func leapSecond() {
    #expect(
      parsed("Sat, 31 Dec 2016 23:59:60 GMT") == parsed("Sat, 31 Dec 2016 23:59:59 GMT"))
  }

  @Test("RFC 9110 §5.6.7 Known times are written as IMF-fixdate")
  func written() {
    #expect(Timestamp(seconds: 784_111_777).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect("\(Timestamp(seconds: 784_111_777))" == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(Timestamp(seconds: 0).httpDate == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(Timestamp(seconds: -1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(Timestamp(seconds: 951_782_400).httpDate == "Tue, 29 Feb 2000 00:00:00 GMT")
    #expect(Timestamp(seconds: 253_402_300_799).httpDate == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(Timestamp(seconds: .max).httpDate == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(Timestamp(seconds: .min).httpDate == "Sat, 01 Jan 0000 00:00:00 GMT")
  }

  #if os(macOS) || canImport(Glibc)
    // holds 9111-4.2-3
    @Test("RFC 9111 §4.2 The zone of this machine has no influence on lifetime and age")
    func zone() async {
      await #expect(processExitsWith: .success) {
        setenv("TZ", "Asia/Tokyo", 1)
        tzset()
        let head = HTTPResponse(
          status: .ok,
          headerFields: [
            .date: "Fri, 06 Nov 2020 11:59:50 GMT", .expires: "Fri, 06 Nov 2020 12:00:30 GMT",
          ])
        let facts = Freshness.facts(
          response: head, requestTime: today, responseTime: today, rules: CacheRules())
        let isRight =
          facts.freshnessLifetime == 40 && facts.correctedInitialAge == 10
          && today.httpDate == "Fri, 06 Nov 2020 12:00:00 GMT"
        exit(isRight ? EXIT_SUCCESS : EXIT_FAILURE)
      }
    }
  #endif

  @Test("RFC 9110 §5.6.7 Writing and parsing returns the same time, through ten millennia")
  func roundTrip() {
    var random = Seeded(seed: 1)
    for _ in 0..<4_000 {
      let time = Timestamp(seconds: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))
      #expect(Timestamp(httpDate: time.httpDate, relativeTo: today) == time)
    }
  }
}
