import HTTPTypes

/// A request for the cache and the origin.
struct RoutedRequest: Sendable {
  /// Method, target and fields.
  var head: HTTPRequest
  /// The addresses to connect to; nil is the origin of the target.
  var group: OriginGroup?
  /// The route of a gateway.
  var route: GatewayRoute?
  /// The partition, which separates responses with equal targets (`RequestOptions.partition`).
  var partition = ""
  /// Whether the response must neither come from the store nor be stored.
  var bypassesCache = false

  /// What the upstream has to know; nil for a request to the origin of its target, with the upstream's limits.
  var context: UpstreamContext? {
    guard group != nil || route?.silence.origin != nil else { return nil }
    return UpstreamContext(group: group, silence: route?.silence.origin)
  }

  /// Changes the fields of the response for the client.
  func finish(_ fields: inout HTTPFields) {
    guard let route else { return }
    let requested =
      route.preservesHost ? Origin(scheme: head.scheme ?? "", authority: head.authority ?? "") : nil
    for name in [HTTPField.Name.location, .contentLocation] {
      // A malformed response may have several.
      let values = fields[values: name]
      let own = values.map { route.reference(from: $0, requested: requested) }
      if own != values { fields[values: name] = own }
    }
    route.responseFields.apply(to: &fields)
  }
}
