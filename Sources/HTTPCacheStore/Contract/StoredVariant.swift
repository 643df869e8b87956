/// One stored response with access to its body.
public struct StoredVariant: Sendable {
  /// The record: everything except the body.
  public let record: CacheRecord
  /// Opens the body.
  public let body: any StoredBody

  /// Makes a variant.
  public init(record: CacheRecord, body: any StoredBody) {
    self.record = record
    self.body = body
  }
}
