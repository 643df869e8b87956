import NIOCore
import NIOSSL
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Other certificates for a running server", .timeLimit(.minutes(10))) struct CertificateReloadTests {
  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBmjCCAUGgAwIBAgIUfvvuJTlx17vaNBIrkTDH4ym+DTUwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzE5NDI1M1oYDzIxMjYxMDMw
    MTk0MjUzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAASbHM3QYstefaHOpjSIXo/dFpR3IeooXW660DXq2jfdyCD6QYSFX3nm
    iQOcIs5yC8BTXGJF0xuvOJm6e7ZDFAjSo28wbTAdBgNVHQ4EFgQUDIZ1sDUDFqX8
    irJ3PEY6zos1m5YwHwYDVR0jBBgwFoAUDIZ1sDUDFqX8irJ3PEY6zos1m5YwDwYD
    VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
    zj0EAwIDRwAwRAIgRj7bo0B5Crws9KYkq7FdtSAISt5vK5lxZz1g/E9avgwCIHHW
    gU9qmxrQtt0F/z8eKkWdfIaxtrJk+ME2x38VR5i/
    -----END CERTIFICATE-----
    """
  /// The key of the certificate above, which only this test trusts.
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9ew2gQdYry4EWbsl
    OG/6ZbPgynux9MQ+pBYGgVssut2hRANCAASbHM3QYstefaHOpjSIXo/dFpR3Ieoo
    XW660DXq2jfdyCD6QYSFX3nmiQOcIs5yC8BTXGJF0xuvOJm6e7ZDFAjS
    -----END PRIVATE KEY-----
    """

  @Test("new connections get the new certificate; a configuration that cannot be used changes nothing")
  func reload() async throws {
    let first = try TestCertificate.server()
    let second = try TestCertificate.server(Self.certificate, Self.key)
    let trusting = try TestCertificate.client(Self.certificate)
    try await withProxy(configure: { $0.tls = first }) { inner in
      try await withProxy(
        upstream: .with { $0.tls = trusting }, configure: { $0.mode = .reverse(toTLS: inner.port) }
      ) { outer in
        let request = "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        #expect(try await outer.connect(sending: request).receiveAll().hasPrefix("HTTP/1.1 502 "))
        try inner.server.setTLS(second)
        var broken = second
        broken.privateKey = first.privateKey
        #expect(throws: (any Error).self) { try inner.server.setTLS(broken) }
        let client = try outer.connect(sending: request)
        let (peer, _) = try await inner.origin.acceptRequest()
        peer.send("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 204 "))
      }
    }
  }
}
