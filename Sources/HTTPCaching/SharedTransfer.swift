import HTTPCacheSemantics
import HTTPCacheStore

/// A leader's response that others may read along.
struct SharedTransfer: Sendable {
  let response: StoredResponse
  let transfer: Transfer
  /// Of the response (RFC 9875).
  let groups: [String]
  /// Of the leader's request.
  let ticket: InvalidationTicket?
  /// The octets of the whole body; nil where the transfer brings all of them.
  var range: Range<Int64>?

  /// The whole body; nil if its first bytes can no longer be had.
  func makeBody() -> MessageBody? { transfer.makeBody(range) }
}
