public import HTTPCacheSemantics

/// Why a response was not stored. With "no-store", the note contains only the status of the response
/// (RFC 9111 §5.2.1.5, §5.2.2.5); otherwise also the fields that were compared.
public struct RefusalNote: Sendable, Hashable {
  /// The key of the response. On disk, a store keeps only a hash of the key under the directory's secret.
  public let key: CacheKey
  /// When the response arrived.
  public let time: Timestamp
  /// The status of the response.
  public let status: Int
  /// The questions of the decision, with their answers.
  public let explanation: CacheExplanation

  /// Makes a note.
  public init(key: CacheKey, time: Timestamp, status: Int, explanation: CacheExplanation) {
    self.key = key
    self.time = time
    self.status = status
    self.explanation = explanation
  }
}
