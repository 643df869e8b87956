import HTTPCaching
import HTTPTypes
import NIOCore

/// A request for the cache and the origin. An object: with a copy of it in each of its frames, the functions that wait
/// during a request took twice the memory.
final class RoutedRequest: Sendable {
  /// Method, target and fields.
  let head: HTTPRequest
  /// The addresses to connect to; nil is the origin of the target.
  let group: OriginGroup?
  /// The route of a gateway.
  let route: GatewayRoute?
  /// The partition, which separates responses with equal targets (`RequestOptions.partition`).
  let partition: String
  /// Whether the response must neither come from the store nor be stored.
  let bypassesCache: Bool

  init(
    head: HTTPRequest, group: OriginGroup? = nil, route: GatewayRoute? = nil, partition: String = "",
    bypassesCache: Bool = false
  ) {
    self.head = head
    self.group = group
    self.route = route
    self.partition = partition
    self.bypassesCache = bypassesCache
  }

  /// The facts for the upstream; nil for a request to the origin of its target, with the upstream's limits.
  var context: UpstreamContext? {
    guard group != nil || route?.silence.origin != nil else { return nil }
    return UpstreamContext(group: group, silence: route?.silence.origin)
  }

  /// Maximum time until the head of the response; nil is the upstream's.
  var timeout: Duration? { route?.silence.head.map { .nanoseconds($0.nanoseconds) } }

  /// An upstream with the limit of the route until the head of a response.
  func upstream(over base: any Upstream) -> any Upstream {
    timeout.map { TimedUpstream(base: base, timeout: $0) } ?? base
  }

  /// The body of the request for the origin.
  func requestBody(_ body: MessageBody) -> MessageBody { route?.requestFields.body(body) ?? body }

  /// The body of the response for the client.
  func responseBody(_ body: MessageBody) -> MessageBody { route?.responseFields.body(body) ?? body }

  /// Changes the fields of the response for the client.
  func finish(_ fields: inout HTTPFields) {
    changeReferences(in: &fields)
    route?.responseFields.apply(to: &fields)
  }

  /// Changes the fields of an interim response for the client.
  func finishInterim(_ fields: inout HTTPFields) {
    changeReferences(in: &fields)
    route?.responseFields.remove(from: &fields)
    // RFC 9110 §8.6.
    fields[.contentLength] = nil
  }

  /// Makes references to the origin those to the proxy.
  private func changeReferences(in fields: inout HTTPFields) {
    guard let route, GatewayReferences.mayBe(in: fields) else { return }
    // The scheme and host that the client used; with `preservesHost` the origin got the host, and may know the scheme from
    // X-Forwarded-Proto.
    let client = Origin.split(partition)?.origin
    let requested: [Origin?] =
      route.preservesHost ? [Origin(scheme: head.scheme, authority: head.authority), client] : []
    GatewayReferences(
      route: route, requested: requested.compactMap { $0 }, clientHost: client?.host
    ).change(&fields)
  }
}
