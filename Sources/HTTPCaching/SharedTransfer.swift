import HTTPCacheSemantics

/// A leader's response that others may read along.
struct SharedTransfer: Sendable {
  let response: StoredResponse
  let transfer: Transfer
}
