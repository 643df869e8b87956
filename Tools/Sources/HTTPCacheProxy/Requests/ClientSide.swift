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
  /// The client's share; nil if it has no limit.
  let share: ClientShare?

  init(address: IPAddress?, isSecure: Bool, trusted: [AddressRange] = [], share: ClientShare? = nil) {
    self.address = address
    self.share = share
    text = address.map { "\($0)" }
    self.isSecure = isSecure
    isTrusted = address.map { address in trusted.contains { $0.contains(address) } } ?? false
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
