import NIOSSL
import Testing

@testable import HTTPCacheAsyncHTTPClient

@Suite("Messages of TLS failures", .timeLimit(.minutes(10))) struct TLSFailureTests {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  @Test(
    "BoringSSL's reasons are told in words, with the reason at the end",
    arguments: [
      ("CERTIFICATE_VERIFY_FAILED", "the certificate is not trusted: its issuer is unknown, or "),
      ("WRONG_VERSION_NUMBER", "the server does not speak TLS on this port"),
      ("TLSV1_ALERT_PROTOCOL_VERSION", "the server accepts no version of TLS that is allowed here"),
      ("SSLV3_ALERT_HANDSHAKE_FAILURE", "the server refuses the handshake"),
    ])
  func words(_ reason: String, _ words: String) {
    let raw =
      "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268436536 error:10000438:SSL "
      + "routines:OPENSSL_internal:\(reason) at /a/tls_record.cc:579]))"
    let text = TLSFailure.text(Failure(description: raw))
    #expect(text.hasPrefix(words), "\(text)")
    #expect(text.hasSuffix("(\(reason))"), "\(text)")
  }

  @Test("another host, and a connection that ends within the handshake, have words of their own")
  func others() {
    let otherHost = NIOSSLExtraError.failedToValidateHostname
    #expect(TLSFailure.text(otherHost) == "the certificate is for another host")
    #expect(
      TLSFailure.text(NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])))
        == "the server closed the connection during the TLS handshake")
  }
}
