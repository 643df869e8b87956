import HTTPCacheSemantics
import HTTPCacheStore

/// A leader's response that others may read along.
struct SharedTransfer: Sendable {
  let response: StoredResponse
  let transfer: Transfer
  /// Of the response (RFC 9875).
  let groups: [String]
  /// The octets of the whole body; nil where the transfer brings all of them.
  var range: Range<Int64>?
  /// The reader of one follower; nil before it has one.
  private var source: TransferBodySource?

  init(
    response: StoredResponse, transfer: Transfer, groups: [String], range: Range<Int64>? = nil
  ) {
    self.response = response
    self.transfer = transfer
    self.groups = groups
    self.range = range
  }

  /// The same for one follower, as a reader from now on: the transfer goes on for it though all others leave.
  func withReader() -> SharedTransfer {
    var shared = self
    shared.source = transfer.makeSource(range)
    return shared
  }

  /// The whole body, once its first bytes are there; nil if they cannot be had.
  ///
  /// - Parameter limit: how long the first bytes are waited for. After that the body is given without them.
  /// - Throws: `CancellationError` when the caller gives up.
  func makeBody(startingWithin limit: Duration?, _ clock: any CacheClock) async throws -> MessageBody? {
    guard let source = source ?? transfer.makeSource(range), try await source.begins(within: limit, clock)
    else { return nil }
    return MessageBody(source)
  }
}
