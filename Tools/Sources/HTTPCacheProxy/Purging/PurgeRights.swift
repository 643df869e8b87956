import HTTPTypes

/// The clients that may purge responses with `PURGE` and `BAN`: those at given addresses that send a token.
public struct PurgeRights: Sendable {
  private let token: BearerToken
  private let addresses: [AddressRange]

  /// Makes rules.
  ///
  /// - Parameters:
  ///   - token: what requests must send (`Authorization: Bearer TOKEN`).
  ///   - addresses: the addresses of the connections that may purge.
  public init(token: String, addresses: [AddressRange]) {
    self.token = BearerToken(token)
    self.addresses = addresses
  }

  /// Requires the token of other rules from now on. The addresses stay.
  public func takeToken(of other: PurgeRights) { token.replace(with: other.token) }

  /// Throws a `Refusal` if a request may not purge.
  func check(_ client: ClientSide, _ fields: HTTPFields) throws(Refusal) {
    guard let address = client.address, addresses.contains(where: { $0.contains(address) }) else {
      throw Refusal(.forbidden, "this address may not purge responses", label: .purge)
    }
    guard token.isIn(fields[.authorization]) else {
      var refusal = Refusal(.unauthorized, "the token is missing or wrong", label: .purge)
      refusal.fields[.wwwAuthenticate] = "Bearer"
      throw refusal
    }
  }
}
