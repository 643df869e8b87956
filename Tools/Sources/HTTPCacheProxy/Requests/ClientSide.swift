import HTTPTypes

/// What a connection tells of its client.
struct ClientSide: Sendable {
  /// The client's address; nil if it has none.
  let address: IPAddress?
  /// Whether the client speaks TLS with the proxy.
  let isSecure: Bool
  /// Whether the client is a proxy whose `X-Forwarded-*` and `Forwarded` count.
  let isTrusted: Bool

  init(address: IPAddress?, isSecure: Bool, trusted: [AddressRange] = []) {
    self.address = address
    self.isSecure = isSecure
    isTrusted = address.map { address in trusted.contains { $0.contains(address) } } ?? false
  }
}
