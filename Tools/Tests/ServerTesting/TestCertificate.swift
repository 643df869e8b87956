package import NIOSSL

/// A certificate for `localhost` and 127.0.0.1 that only tests trust.
package enum TestCertificate {
  package static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBnDCCAUGgAwIBAgIUHHBPYdwflWLb/byV1pJ6i26gx6IwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA3NDMwMVoYDzIxMjYxMDI4
    MDc0MzAxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAATD/CNSfAShMlQZ0K8wYW1HDhuf+CQnM8IzdVASgM1FSzDOI1omT64I
    jyW34fWa8PJeWlRqdPhTeP48Smlxugcxo28wbTAdBgNVHQ4EFgQUu5KeyBZDocag
    mTYJNWyL33gUR50wHwYDVR0jBBgwFoAUu5KeyBZDocagmTYJNWyL33gUR50wDwYD
    VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
    zj0EAwIDSQAwRgIhAOqOd6qkTKiMrpQttPIuGxTj9tKTr1srpjhJTdFg89uGAiEA
    osRRTpt8NKZoydBl3rx1TdcbBu1+eFNsMuH/+/yUPvU=
    -----END CERTIFICATE-----
    """
  package static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmw5SlDlc2/QBGrGl
    mEx4eUmx4h+Acm8/xVXsA6y0THGhRANCAATD/CNSfAShMlQZ0K8wYW1HDhuf+CQn
    M8IzdVASgM1FSzDOI1omT64IjyW34fWa8PJeWlRqdPhTeP48Smlxugcx
    -----END PRIVATE KEY-----
    """

  /// The configuration of a server with this certificate, or another one.
  ///
  /// - Parameter protocols: the names in ALPN, the preferred one first.
  package static func server(
    _ certificate: String = certificate, _ key: String = key, protocols: [String] = []
  ) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    tls.applicationProtocols = protocols
    return tls
  }

  /// The configuration of a client that trusts this certificate, or another one.
  package static func client(_ certificate: String = certificate) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
    return tls
  }
}
