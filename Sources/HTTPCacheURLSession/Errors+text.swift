public import Foundation
public import HTTPCaching

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension UpstreamError: LocalizedError {
  /// Kind and message.
  public var errorDescription: String? { description }
}

extension CacheError: LocalizedError {
  /// The failure, the key it concerns, and the reason.
  public var errorDescription: String? { description }
}

extension OriginStatusError: LocalizedError {
  /// The status in words.
  public var errorDescription: String? { description }
}

extension OfflineReason: LocalizedError {
  /// The reason in words.
  public var errorDescription: String? { description }
}

extension MessageBody.TooLong: LocalizedError {
  /// The limit in bytes.
  public var errorDescription: String? { "the body is longer than the limit of \(limit) bytes" }
}
