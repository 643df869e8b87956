import HTTPCacheStore

/// A value bound to a parameter of a statement.
enum SQLiteValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  /// Bytes that are bound without a copy.
  case shared(BodyBytes)

  /// The bits of a hash. SQLite has signed integers only.
  static func hash(_ value: UInt64) -> SQLiteValue { .integer(Int64(bitPattern: value)) }
}
