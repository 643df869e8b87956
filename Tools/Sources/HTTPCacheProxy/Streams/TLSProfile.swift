package import NIOSSL

extension TLSConfiguration {
  /// The cipher suites of TLS 1.2 in Mozilla's intermediate profile that this library has. All of them have forward
  /// secrecy and authenticate what they encrypt, so that HTTP/2 allows each (RFC 9113 §9.2.2).
  private static let intermediate = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ].joined(separator: ":")

  /// Allows TLS 1.2 or later (RFC 8996), with safe cipher suites.
  ///
  /// - Parameter onlyTLS13: whether to allow TLS 1.3 or later alone.
  package mutating func restrict(onlyTLS13: Bool = false) {
    cipherSuites = Self.intermediate
    minimumTLSVersion = onlyTLS13 || minimumTLSVersion == .tlsv13 ? .tlsv13 : .tlsv12
  }
}
