import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RFC9110_10_2_3_RetryAfterTests {
  @Test("RFC 9110 §10.2.3 Retry-After is a number of seconds or a date")
  func seconds() {
    func seconds(_ value: String) -> Int64? { RetryAfter.seconds([.retryAfter: value], now: today) }
    #expect(seconds("120") == 120)
    #expect(seconds(today.adding(90).httpDate) == 90)
    #expect(seconds(today.adding(-90).httpDate) == 0)
    #expect(seconds("99999999999999999999") == .max)
    for value in ["", "-1", "soon", "1.5"] { #expect(seconds(value) == nil) }
  }
}
