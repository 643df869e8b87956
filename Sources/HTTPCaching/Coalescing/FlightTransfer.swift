import HTTPCacheSemantics

/// A leader's response that followers may read along.
struct FlightTransfer: Sendable {
  let response: StoredResponse
  let transfer: Transfer
  /// The groups of the response (RFC 9875).
  let groups: [String]
  /// Whether the tier of a fleet gave the response, and not the origin.
  let isFromTier: Bool
  /// The range of the whole body in octets; nil if the transfer brings all of the body.
  var range: Range<Int64>?
  /// The reader of one follower; nil before it has one.
  private(set) var source: TransferBodySource?

  /// This transfer with a reader for one follower. From now on the transfer continues for this reader, even
  /// if all other readers leave.
  func withReader() -> FlightTransfer {
    guard source == nil else { return self }
    var copy = self
    copy.source = transfer.makeSource(range)
    return copy
  }

  /// The whole body, once its first bytes have arrived; nil if they are no longer available.
  ///
  /// - Parameter limit: how long to wait for the first bytes. After that the body is returned without them.
  /// - Throws: `CancellationError` when the caller is cancelled.
  func makeBody(startingWithin limit: Duration?) async throws -> MessageBody? {
    guard let source = source ?? transfer.makeSource(range), try await source.begins(within: limit)
    else { return nil }
    return MessageBody(source)
  }
}
