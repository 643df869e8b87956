public import Foundation

/// A store does not behave as `CacheStore` requires.
public struct StoreViolation: LocalizedError, Sendable, CustomStringConvertible {
  /// The behaviour, and the expected one.
  public let message: String
  /// The line of the check.
  public let line: UInt

  /// Makes a violation.
  public init(message: String, line: UInt = #line) {
    self.message = message
    self.line = line
  }

  /// Message and line.
  public var description: String { "\(message) (check at line \(line))" }
  /// Message and line.
  public var errorDescription: String? { description }
}

/// Throws a violation with `message` unless `condition` holds.
func require(
  _ condition: Bool, _ message: @autoclosure () -> String, line: UInt = #line
) throws(StoreViolation) {
  if !condition { throw StoreViolation(message: message(), line: line) }
}

/// Throws a violation unless both are equal.
func requireEqual<Value: Equatable>(
  _ found: Value, _ expected: Value, _ what: @autoclosure () -> String, line: UInt = #line
) throws(StoreViolation) {
  if found != expected {
    throw StoreViolation(message: "\(what()): \(found), expected \(expected)", line: line)
  }
}
