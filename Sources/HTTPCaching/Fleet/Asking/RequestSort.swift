import HTTPCacheSemantics
import HTTPTypes

/// The requests for a key that get the same answer to whether their response can be shared: a response to a request with
/// credentials may be refused where another one is not (RFC 9111 §3.5).
struct RequestSort: Sendable, Hashable {
  let key: CacheKey
  let hasCredentials: Bool

  init(_ exchange: Exchange) {
    key = exchange.key
    let fields = exchange.request.headerFields
    hasCredentials = fields[.authorization] != nil || fields[.cookie] != nil
  }
}
