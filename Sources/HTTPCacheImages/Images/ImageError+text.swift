public import Foundation

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension ImageError: LocalizedError {
  /// The error in words.
  public var errorDescription: String? { description }
}
