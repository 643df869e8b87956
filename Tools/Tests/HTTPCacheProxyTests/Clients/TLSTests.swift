import HTTPCaching
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HTTPCacheProxy

@Suite("TLS on both sides", .timeLimit(.minutes(10))) struct TLSTests {
  static let certificate = """
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
  /// The key of the certificate above, which only these tests trust.
  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmw5SlDlc2/QBGrGl
    mEx4eUmx4h+Acm8/xVXsA6y0THGhRANCAATD/CNSfAShMlQZ0K8wYW1HDhuf+CQn
    M8IzdVASgM1FSzDOI1omT64IjyW34fWa8PJeWlRqdPhTeP48Smlxugcx
    -----END PRIVATE KEY-----
    """

  static func server() throws -> TLSConfiguration {
    TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
  }

  static func client() throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
    return tls
  }

  @Test("a proxy that listens with TLS serves a proxy that asks https origins")
  func both() async throws {
    try await withProxy(configure: { $0.tls = try? Self.server() }) { inner in
      try await withProxy(
        upstream: .init(tls: try Self.client()),
        configure: {
          $0.mode = .reverse(Origin(isSecure: true, host: "localhost", port: inner.port), basePath: "")
        }
      ) { outer in
        let client = try outer.connect()
        client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
        let (peer, head) = try await inner.origin.acceptRequest()
        #expect(head.hasPrefix("POST /a HTTP/1.1\r\n"))
        #expect(try await peer.receive(count: 3) == "abc")
        let size = 1 << 20
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        async let counted = client.receiveAll()
        await peer.send([UInt8](repeating: 65, count: size))
        let all = try await counted
        #expect(all.utf8.count > size)
        #expect(all.hasSuffix("\r\n\r\n" + String(repeating: "A", count: size)))
      }
    }
  }

  @Test("a certificate that is not trusted is 502 and an error of kind tls")
  func untrusted() async throws {
    try await withProxy(configure: { $0.tls = try? Self.server() }) { inner in
      try await withProxy(configure: {
        $0.mode = .reverse(Origin(isSecure: true, host: "localhost", port: inner.port), basePath: "")
      }) { outer in
        let client = try outer.connect()
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = try await client.receiveHead()
        #expect(head.hasPrefix("HTTP/1.1 502 "))
        #expect(field("Cache-Status", in: head) == nil)
      }
    }
  }

  @Test("a certificate for another host is not trusted")
  func wrongHost() async throws {
    try await withProxy(configure: { $0.tls = try? Self.server() }) { inner in
      try await withProxy(
        upstream: .init(tls: try Self.client()),
        configure: {
          $0.mode = .reverse(Origin(isSecure: true, host: "127.0.0.2", port: inner.port), basePath: "")
        }
      ) { outer in
        let client = try outer.connect()
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      }
    }
  }
}
