import HTTPCacheSemantics
import HTTPCacheStore

/// A leader's response that followers may read along.
struct SharedTransfer: Sendable {
  let response: StoredResponse
  let transfer: Transfer
  /// The groups of the response (RFC 9875).
  let groups: [String]
  /// Whether the tier of a fleet gave the response, and not the origin.
  let isFromTier: Bool
  /// The range of the whole body in octets; nil if the transfer brings all of the body.
  var range: Range<Int64>?
  /// The reader of one follower; nil before it has one.
  private var source: TransferBodySource?

  init(
    response: StoredResponse, transfer: Transfer, groups: [String], isFromTier: Bool,
    range: Range<Int64>? = nil
  ) {
    self.response = response
    self.transfer = transfer
    self.groups = groups
    self.isFromTier = isFromTier
    self.range = range
  }

  /// This transfer with a reader for one follower. From now on the transfer continues for this reader, even
  /// if all other readers leave.
  func withReader() -> SharedTransfer {
    guard source == nil else { return self }
    var shared = self
    shared.source = transfer.makeSource(range)
    return shared
  }

  /// The whole body, once its first bytes have arrived; nil if they are no longer available.
  ///
  /// - Parameter limit: how long to wait for the first bytes. After that the body is returned without them.
  /// - Throws: `CancellationError` when the caller is cancelled.
  func makeBody(startingWithin limit: Duration?, _ clock: any CacheClock) async throws -> MessageBody? {
    guard let source = source ?? transfer.makeSource(range), try await source.begins(within: limit, clock)
    else { return nil }
    return MessageBody(source)
  }
}
