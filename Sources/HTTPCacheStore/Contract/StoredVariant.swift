/// One stored response and the way to its body.
public struct StoredVariant: Sendable {
  /// Everything but the body.
  public let record: CacheRecord
  /// Opens the body.
  public let body: any StoredBody

  /// Makes a variant.
  public init(record: CacheRecord, body: any StoredBody) {
    self.record = record
    self.body = body
  }
}
