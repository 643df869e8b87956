import ArgumentParser
import Foundation
import HTTPCacheProxy
import NIOSSL

/// The options of `serve` for TLS.
struct TLSOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Listen with TLS: the certificate, followed by its chain.", valueName: "pem"))
  var tlsCertificate: String?

  @Option(help: ArgumentHelp("The private key of --tls-certificate, without a passphrase.", valueName: "pem"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "The certificates to trust in https origins, instead of the system's.", valueName: "pem"))
  var upstreamCA: String?

  func validate() throws {
    if tlsCertificate != nil, tlsKey == nil { throw ValidationError("--tls-certificate requires --tls-key.") }
    if tlsKey != nil, tlsCertificate == nil { throw ValidationError("--tls-key requires --tls-certificate.") }
  }

  /// The TLS configuration of the listener; nil without TLS.
  ///
  /// - Throws: `StartFailure`.
  func listener() throws(StartFailure) -> TLSConfiguration? {
    guard let tlsCertificate, let tlsKey else { return nil }
    let chain = try certificates(tlsCertificate)
    try check("the private key", tlsKey)
    guard let key = try? NIOSSLPrivateKey(file: tlsKey, format: .pem) else {
      throw StartFailure("\(tlsKey) has no private key in PEM format without a passphrase")
    }
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    tls.applicationProtocols = ["http/1.1"]
    guard (try? NIOSSLContext(configuration: tls)) != nil else {
      throw StartFailure("the private key \(tlsKey) does not fit the certificate \(tlsCertificate)")
    }
    return tls
  }

  /// The certificates to trust for origins; nil is the system's.
  ///
  /// - Throws: `StartFailure`.
  func originRoots() throws(StartFailure) -> NIOSSLTrustRoots? {
    guard let upstreamCA else { return nil }
    return .certificates(try certificates(upstreamCA))
  }

  private func certificates(_ path: String) throws(StartFailure) -> [NIOSSLCertificate] {
    try check("the certificate", path)
    guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
      throw StartFailure("\(path) has no certificate in PEM format")
    }
    return certificates
  }

  /// Reads a byte of a file, so that an error has the system's reason.
  private func check(_ what: String, _ path: String) throws(StartFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { close(descriptor) } }
    var byte: UInt8 = 0
    guard descriptor >= 0, read(descriptor, &byte, 1) >= 0 else {
      throw StartFailure("cannot read \(what) \(path): \(SystemMessage.text(errno))")
    }
  }
}
