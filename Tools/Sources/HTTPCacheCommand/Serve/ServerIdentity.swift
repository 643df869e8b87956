import NIOCore
import NIOSSL

/// A certificate with its chain and its private key, for the names that it has.
struct ServerIdentity: Sendable {
  let chain: [NIOSSLCertificate]
  let key: NIOSSLPrivateKey
  /// The DNS names in lower case, which may begin with `*.` (RFC 9525 §6.3).
  let names: [String]

  /// Makes an identity; its names are the alternative names of the first certificate.
  init(chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
    self.chain = chain
    self.key = key
    names = (chain.first.map { Array($0._subjectAlternativeNames()) } ?? []).filter {
      $0.nameType == .dnsName
    }
    .map { String(decoding: $0.contents, as: UTF8.self).lowercased() }
  }

  /// Whether the certificate has a name that a client asks for.
  func covers(_ host: String) -> Bool { names.contains { Self.matches($0, host.lowercased()) } }

  /// Whether a name of a certificate is that of a host. `*` is one whole label, the leftmost.
  static func matches(_ name: String, _ host: String) -> Bool {
    guard name.hasPrefix("*.") else { return name == host }
    guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
    return host[dot...] == name.dropFirst()
  }

  /// The certificate for each client: the first that has the name that the client asks for (SNI, RFC 6066 §3), else the
  /// first of all.
  static func configuration(_ identities: [ServerIdentity]) -> TLSConfiguration? {
    guard let first = identities.first else { return nil }
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: first.chain.map { .certificate($0) }, privateKey: .privateKey(first.key))
    tls.applicationProtocols = ["http/1.1"]
    guard identities.count > 1 else { return tls }
    tls.sslContextCallback = { client, promise in
      var chosen = NIOSSLContextConfigurationOverride.noChanges
      if let host = client.serverHostname, let identity = identities.first(where: { $0.covers(host) }) {
        chosen.certificateChain = identity.chain.map { .certificate($0) }
        chosen.privateKey = .privateKey(identity.key)
      }
      promise.succeed(chosen)
    }
    return tls
  }
}
