#if AsyncHTTPClient
  import NIOSSL

  /// The meaning of a TLS error in words.
  enum TLSFailure {
    /// Words for the reasons of BoringSSL, those of alerts that the server sends included.
    private static let words: [String: String] = [
      "CERTIFICATE_VERIFY_FAILED":
        "the certificate is not trusted: its issuer is unknown, or it has expired or is not valid yet",
      "WRONG_VERSION_NUMBER": "the server does not speak TLS on this port",
      "HTTP_REQUEST": "the server does not speak TLS on this port",
      "UNSUPPORTED_PROTOCOL": "the server has no version of TLS that is allowed here",
      "TLSV1_ALERT_PROTOCOL_VERSION": "the server accepts no version of TLS that is allowed here",
      "NO_SHARED_CIPHER": "the server has no cipher in common",
      "SSLV3_ALERT_HANDSHAKE_FAILURE":
        "the server refuses the handshake: it has no cipher or version in common, or requires a client certificate",
      "TLSV1_ALERT_INSUFFICIENT_SECURITY": "the server requires a stronger cipher",
      "TLSV1_UNRECOGNIZED_NAME": "the server has no such host",
      "TLSV1_ALERT_UNRECOGNIZED_NAME": "the server has no such host",
      "TLSV1_CERTIFICATE_REQUIRED": "the server requires a client certificate",
      "TLSV1_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate",
      "TLSV1_ALERT_INTERNAL_ERROR": "the server has an internal error",
    ]

    /// The message for an error of NIOSSL.
    static func text(_ error: any Error) -> String {
      if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
        return "the certificate is for another host"
      }
      let raw = "\(error)"
      guard let start = raw.firstRange(of: "OPENSSL_internal:") else {
        let isClosed = ["EOF during handshake", "syscallError", "zeroReturn"].contains { raw.contains($0) }
        return isClosed
          ? "the server closed the connection during the TLS handshake" : "TLS failed: \(raw)"
      }
      let reason = String(raw[start.upperBound...].prefix { $0.isUppercase || $0.isNumber || $0 == "_" })
      guard let known = words[reason] else {
        return "TLS failed: " + reason.replacing("_", with: " ").lowercased()
      }
      return "\(known) (\(reason))"
    }
  }
#endif
