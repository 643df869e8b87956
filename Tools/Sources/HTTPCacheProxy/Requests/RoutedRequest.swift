import HTTPTypes

/// A request for the cache and the origin.
struct RoutedRequest: Sendable {
  /// Method, target and fields.
  var head: HTTPRequest
  /// The origin to connect to; nil is that of the target.
  var origin: Origin?
  /// The partition, which separates responses with equal targets (`RequestOptions.partition`).
  var partition = ""
  /// Whether the response must neither come from the store nor be stored.
  var bypassesCache = false
}
