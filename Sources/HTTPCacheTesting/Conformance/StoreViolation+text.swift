public import Foundation

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension StoreViolation: LocalizedError {
  /// Message and line.
  public var errorDescription: String? { description }
}
