public import Foundation
public import HTTPCaching

// Texts for people: Foundation's default text of an error is its domain and a number. They are here, in the lowest module
// of apps, because the engine and the modules below it link no Foundation (docs/decisions/0056).

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
  public var errorDescription: String? { description }
}

extension RedirectLimitReached: LocalizedError {
  /// The limit in words.
  public var errorDescription: String? { description }
}

extension NotRecorded: LocalizedError {
  /// The reason in words.
  public var errorDescription: String? { description }
}

extension LengthContradiction: LocalizedError {
  /// The length in words.
  public var errorDescription: String? { description }
}

extension HookFailure: LocalizedError {
  /// How the hook failed.
  public var errorDescription: String? { description }
}

extension TargetPatternError: LocalizedError {
  /// The text and what is wrong with it.
  public var errorDescription: String? { description }
}

extension SharedTierError: LocalizedError {
  /// Kind and message.
  public var errorDescription: String? { description }
}

extension StorageRefusal: LocalizedError {
  /// The reason in words.
  public var errorDescription: String? { description }
}
