import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("A head has a limited number of fields", .timeLimit(.minutes(10)))
struct BoundedFieldsTests {
  private func names(_ prefix: String, _ count: Int) throws -> [HTTPField] {
    try (0..<count).map { HTTPField(name: try #require(HTTPField.Name("\(prefix)\($0)")), value: "a") }
  }

  @Test("a field above the limit is refused, and the head stays as it was")
  func limit() throws {
    var fields = HTTPFields()
    let areAdded = try names("a", HTTPFields.countLimit).map { fields.appendBounded($0) }
    let isAdded = fields.appendBounded(HTTPField(name: .accept, value: "b"))
    #expect(!areAdded.contains(false) && !isAdded)
    #expect(fields.count == HTTPFields.countLimit && fields[.accept] == nil)
  }

  @Test("two heads at the limit fit into one")
  func pair() throws {
    let fields = HTTPFields(try names("a", HTTPFields.countLimit))
    #expect((fields + fields).count == 2 * HTTPFields.countLimit)
  }

  @Test("the fields of many 304s do not add up without end: at the limit the stored response is invalidated")
  func freshening() throws {
    let share = 3_000
    var current = try stored(200, ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
    let request = try get()
    for round in 0..<(65_535 / share + 1) {
      var head = try response(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
      head.headerFields += try names("r\(round)-", share)
      let count = current.head.headerFields.count
      current = Freshening.updated(
        current, with: ReceivedResponse(head, requestTime: today, responseTime: today), rules: privateRules,
        validating: request)
      guard current.isInvalidated else { continue }
      #expect(count + share > HTTPFields.countLimit)
      return
    }
    Issue.record("the stored head has \(current.head.headerFields.count) fields")
  }
}
