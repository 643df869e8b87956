import HTTPTypes
import NIOCore

/// The client of a connection.
struct ClientSide: Sendable {
  /// The client's address; nil if it has none.
  let address: IPAddress?
  /// The address as text for fields and logs, made once for all requests; nil if the client has no address.
  let text: String?
  /// Whether the client's connection uses TLS.
  let isSecure: Bool
  /// Whether the client is a proxy whose `X-Forwarded-*` and `Forwarded` count.
  let isTrusted: Bool
  /// The trusted proxies.
  private let trusted: [AddressRange]
  /// The client's share; nil if it has no limit.
  let share: ClientShare?

  init(address: IPAddress?, isSecure: Bool, trusted: [AddressRange] = [], share: ClientShare? = nil) {
    self.address = address
    self.share = share
    text = address.map { "\($0)" }
    self.isSecure = isSecure
    self.trusted = trusted
    isTrusted = address.map { address in trusted.contains { $0.contains(address) } } ?? false
  }

  /// The address that a request comes from: behind trusted proxies, the last one that they name and that is not theirs.
  func source(of fields: HTTPFields) -> IPAddress? {
    guard isTrusted, let address else { return address }
    var source = address
    for node in ForwardedNodes.nodes(of: fields).reversed() {
      // No trusted proxy told the nodes before a hidden name (RFC 7239 §6.3).
      guard let next = ForwardedNodes.address(node) else { break }
      source = next
      guard trusted.contains(where: { $0.contains(next) }) else { break }
    }
    return source
  }

  /// `source(of:)` as text for logs.
  func sourceText(of fields: HTTPFields?) -> String? {
    guard isTrusted, let fields else { return text }
    return source(of: fields).map { "\($0)" }
  }
}

extension ClientSide {
  /// The client of a connection.
  init(_ channel: any Channel, _ configuration: ProxyServer.Configuration, share: ClientShare?) {
    self.init(
      address: channel.remoteAddress.flatMap { IPAddress($0) }, isSecure: configuration.tls != nil,
      trusted: configuration.trustedForwarders, share: share)
  }
}
