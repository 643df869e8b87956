import HTTPCacheSemantics

/// The properties of every date (RFC 9110 §5.6.7).
enum DateProperties {
  static func check(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    let lines = octets.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard let date = lines.first else { return }
    let now = lines.count > 1 ? Int64(lines[1]) ?? 0 : 1_604_664_000
    try check(date, relativeTo: Timestamp(seconds: now))
    try checkWritten(Timestamp(seconds: now), relativeTo: Timestamp(seconds: 0))
  }

  /// A date that was read and written is read as an equal time.
  static func check(_ date: String, relativeTo now: Timestamp) throws(PropertyViolation) {
    guard let time = Timestamp(httpDate: date, relativeTo: now) else { return }
    // A year of two digits may be before the year 0 if `now` is.
    try checkWritten(time, relativeTo: now)
  }

  private static func checkWritten(
    _ time: Timestamp, relativeTo now: Timestamp
  ) throws(PropertyViolation) {
    let text = time.httpDate
    guard let again = Timestamp(httpDate: text, relativeTo: now) else {
      throw PropertyViolation(description: "\(time.seconds) is written as \(text)")
    }
    let hasForm = (-62_167_219_200...253_402_300_799).contains(time.seconds)
    try require(
      again == time || !hasForm, "\(time.seconds), written \(text), is read as \(again.seconds)")
    try require(again.httpDate == text, "\(text) is written as \(again.httpDate)")
  }
}
