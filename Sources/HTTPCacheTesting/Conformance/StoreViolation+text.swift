public import Foundation

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension StoreViolation: LocalizedError {
  /// What the store did.
  public var errorDescription: String? { description }
}
