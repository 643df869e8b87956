import NIOSSL

/// The meaning of a TLS error, as part of a sentence.
enum TLSFailure {
  static func text(_ error: any Error) -> String {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
      return "the certificate is for another host"
    }
    let text = "\(error)"
    // The reason within BoringSSL's message, such as `CERTIFICATE_VERIFY_FAILED`.
    guard let start = text.firstRange(of: "OPENSSL_internal:") else { return text }
    switch text[start.upperBound...].prefix(while: { $0.isUppercase || $0.isNumber || $0 == "_" }) {
    case "CERTIFICATE_VERIFY_FAILED": return "the certificate is not trusted"
    case "WRONG_VERSION_NUMBER": return "the server does not speak TLS"
    case let reason: return reason.replacing("_", with: " ").lowercased()
    }
  }
}
