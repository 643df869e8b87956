import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Accounts that are told apart by their credentials", .timeLimit(.minutes(10)))
struct SeparatedCredentialsFlowTests {
  private let test = TestCache(rules: CacheRules(separatesCredentials: true))

  private func get(_ token: String?) async throws -> String {
    var fields: HTTPFields = [:]
    fields[.authorization] = token.map { "Bearer \($0)" }
    return try await test.get("/me", fields).text
  }

  /// An origin that confirms any tag, whatever the credentials.
  private func answerByCredentials() {
    test.origin.answers { request, number in
      request.headerFields[.ifNoneMatch] == nil
        ? (
          200, [.cacheControl: "max-age=60", .eTag: "\"\(number)\""],
          request.headerFields[.authorization] ?? "none"
        )
        : (304, [.cacheControl: "max-age=60", .vary: "Accept"], "")
    }
  }

  @Test("each account gets its own response, while fresh and after a validation that brings a Vary")
  func separated() async throws {
    answerByCredentials()
    for _ in 1...2 {
      for token in ["anna", "bert", nil] {
        #expect(try await get(token) == token.map { "Bearer \($0)" } ?? "none")
      }
    }
    #expect(test.origin.requests.count == 3)
    test.clock.advance(by: 90)
    for _ in 1...2 {
      for token in ["anna", "carl", "bert"] { #expect(try await get(token) == "Bearer \(token)") }
    }
    let conditional = test.origin.requests.filter { $0.headerFields[.ifNoneMatch] != nil }
    #expect(conditional.map { $0.headerFields[.authorization] } == ["Bearer anna", "Bearer bert"])
  }

  @Test("requests at the same time share no transfer with another account")
  func atOnce() async throws {
    answerByCredentials()
    try await withThrowingTaskGroup(of: (String, String).self) { group in
      for number in 0..<40 {
        let token = "user\(number % 4)"
        group.addTask { (token, try await get(token)) }
      }
      for try await (token, text) in group { #expect(text == "Bearer \(token)") }
    }
  }
}
