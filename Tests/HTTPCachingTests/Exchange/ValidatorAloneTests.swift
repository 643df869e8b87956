import HTTPCaching
import Testing

@Suite("Responses with a validator and no lifetime", .timeLimit(.minutes(10)))
struct ValidatorAloneTests {
  private let test = TestCache()

  @Test("with an ETag alone, every use is validated, however soon")
  func entityTag() async throws {
    try await test.store([.eTag: "\"1\""], "one")
    test.origin.always(304, [.eTag: "\"1\""], "")
    for _ in 1...2 {
      let answer = try await test.get("/")
      #expect(answer.text == "one")
      #expect(
        answer.outcome
          == .validated(
            .stale(age: .seconds(0), lifetime: .seconds(0)), age: .seconds(0), lifetime: .seconds(0)))
    }
    #expect(test.origin.requests.count == 3)
    #expect(test.origin.requests.dropFirst().allSatisfy { $0.headerFields[.ifNoneMatch] == "\"1\"" })
  }
}
