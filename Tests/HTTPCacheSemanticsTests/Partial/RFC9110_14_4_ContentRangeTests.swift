import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct RFC9110_14_4_ContentRangeTests {
  private func parse(_ values: String...) throws -> ContentRange? {
    var fields = HTTPFields()
    for value in values { fields.append(HTTPField(name: .contentRange, value: value)) }
    return ContentRange(fields)
  }

  @Test("RFC 9110 §14.4 The examples of the text")
  func examples() throws {
    #expect(try parse("bytes 42-1233/1234") == .part(42..<1234, length: 1234))
    #expect(try parse("bytes 42-1233/*") == .part(42..<1234, length: nil))
    #expect(try parse("bytes */1234") == .unsatisfied(length: 1234))
    #expect(try parse("bytes 0-499/1234") == .part(0..<500, length: 1234))
    #expect(try parse("BYTES 0-0/1") == .part(0..<1, length: 1))
  }

  @Test(
    "RFC 9110 §14.4 What is invalid, or of another unit, must not be combined",
    arguments: [
      "", "bytes", "bytes ", "bytes 0-1", "bytes 0-1/", "bytes /5", "bytes 5-4/10", "bytes 0-10/10",
      "bytes 0-9/5", "bytes */*", "bytes *-5/10", "items 0-1/2", "bytes=0-1/2", "bytes 0-1/2/3",
      "bytes -1/5", "bytes a-b/c", "bytes 0-1 /2", "bytes +0-1/2", "bytes 0-/5",
      "bytes 0-99999999999999999999999999999999999999999/*",
      "bytes 0-9223372036854775807/*",
    ])
  func invalid(value: String) throws {
    #expect(try parse(value) == nil)
  }

  @Test("RFC 9110 §14.4 Numbers of any size do not overflow")
  func huge() throws {
    let huge = String(repeating: "9", count: 40)
    #expect(try parse("bytes 0-1/\(huge)") == .part(0..<2, length: .max))
    #expect(try parse("bytes \(huge)-\(huge)/\(huge)") == nil)
    #expect(
      try parse("bytes 9223372036854775805-9223372036854775806/*")
        == .part(9_223_372_036_854_775_805..<Int64.max, length: nil))
  }

  @Test("RFC 9110 §5.3 Two lines say nothing")
  func twice() throws {
    #expect(try parse("bytes 0-1/10", "bytes 0-1/10") == nil)
    #expect(try parse() == nil)
  }
}
