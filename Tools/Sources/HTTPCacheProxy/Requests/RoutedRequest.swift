import HTTPTypes

/// A request as it goes to the cache and to its origin.
struct RoutedRequest: Sendable {
  /// Method, target and fields.
  var head: HTTPRequest
  /// Where to connect; nil is where the target says.
  var origin: Origin?
  /// Keeps responses apart that the cache key does not (`RequestOptions.partition`).
  var partition = ""
  /// Whether the response must neither come from the store nor be stored.
  var bypassesCache = false
}
