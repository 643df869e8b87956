public import Foundation

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension DownloadError: LocalizedError {
  /// Code and message.
  public var errorDescription: String? { description }
}

extension DownloadFailure: LocalizedError {
  /// Kind and message.
  public var errorDescription: String? { description }
}
