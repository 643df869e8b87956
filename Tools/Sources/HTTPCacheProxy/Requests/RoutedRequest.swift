import HTTPTypes

/// A request for the cache and the origin.
struct RoutedRequest: Sendable {
  /// Method, target and fields.
  var head: HTTPRequest
  /// The addresses to connect to; nil is the origin of the target.
  var group: OriginGroup?
  /// Changes of the response's fields.
  var responseFields = FieldRules()
  /// The partition, which separates responses with equal targets (`RequestOptions.partition`).
  var partition = ""
  /// Whether the response must neither come from the store nor be stored.
  var bypassesCache = false
}
