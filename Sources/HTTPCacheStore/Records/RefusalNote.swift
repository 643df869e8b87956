public import HTTPCacheSemantics

/// Why a response was not stored, for whoever asks later. Where "no-store" was said it holds nothing
/// of the response but its status (RFC 9111 §5.2.1.5, §5.2.2.5); else the fields that were compared.
public struct RefusalNote: Sendable, Hashable {
  /// The key it would have been stored under. A store keeps no more of it on disk than a hash under the
  /// secret of its directory.
  public let key: CacheKey
  /// When the response arrived.
  public let time: Timestamp
  /// The status of the response.
  public let status: Int
  /// The questions that were asked, and their answers.
  public let explanation: CacheExplanation

  /// Makes a note.
  public init(key: CacheKey, time: Timestamp, status: Int, explanation: CacheExplanation) {
    self.key = key
    self.time = time
    self.status = status
    self.explanation = explanation
  }
}
