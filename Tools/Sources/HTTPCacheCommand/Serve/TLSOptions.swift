import ArgumentParser
import Foundation
import HTTPCacheProxy
import NIOSSL

/// The options of `serve` for TLS.
struct TLSOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Listen with TLS: the certificate, followed by its chain. May be repeated: the first that has the name that the \
      client asks for is used, else the first of all.
      """, valueName: "pem"))
  var tlsCertificate: [String] = []

  @Option(
    help: ArgumentHelp(
      "The private key of --tls-certificate, without a passphrase; one for each, in the same order.",
      valueName: "pem"))
  var tlsKey: [String] = []

  @Option(
    help: ArgumentHelp(
      "The certificates to trust in https origins, instead of the system's.", valueName: "pem"))
  var upstreamCA: String?

  @Option(
    name: .customLong("client-ca"),
    help: ArgumentHelp(
      "Serve only clients with a certificate of these authorities; with --tls-certificate.", valueName: "pem")
  )
  var clientCA: String?

  @Option(
    help: ArgumentHelp(
      "The least version of TLS, 1.2 or 1.3, of clients and of https origins.", valueName: "version"))
  var tlsMinVersion = TLSVersionArgument.tls12

  @Flag(
    inversion: .prefixedNo, help: "Let clients speak HTTP/2 over TLS (ALPN).")
  var http2 = true

  @Flag(help: "Let clients begin HTTP/2 without TLS, with prior knowledge.")
  var h2c = false

  @Flag(
    inversion: .prefixedNo,
    help: "Let https origins choose HTTP/2 for requests without a body that may be repeated.")
  var upstreamHttp2 = true

  func validate() throws {
    if clientCA != nil, tlsCertificate.isEmpty {
      throw ValidationError("--client-ca requires --tls-certificate.")
    }
    if h2c, !tlsCertificate.isEmpty {
      throw ValidationError(
        "--h2c is for listeners without TLS; with --tls-certificate, clients choose by ALPN.")
    }
    if tlsKey.isEmpty, !tlsCertificate.isEmpty {
      throw ValidationError("--tls-certificate requires --tls-key.")
    }
    if tlsCertificate.isEmpty, !tlsKey.isEmpty {
      throw ValidationError("--tls-key requires --tls-certificate.")
    }
    guard tlsCertificate.count == tlsKey.count else {
      throw ValidationError(
        "Each --tls-certificate requires its --tls-key (got \(tlsCertificate.count) and \(tlsKey.count)).")
    }
  }

  /// The TLS configuration of the listener; nil without TLS.
  ///
  /// - Throws: `StartFailure`.
  func listener() throws(StartFailure) -> TLSConfiguration? {
    var identities: [ServerIdentity] = []
    for (certificate, key) in zip(tlsCertificate, tlsKey) {
      identities.append(try identity(certificate, key))
    }
    var tls = ServerIdentity.configuration(identities)
    tls?.restrict(onlyTLS13: tlsMinVersion == .tls13)
    if let clientCA {
      tls?.trustRoots = .certificates(try Self.certificates(clientCA, key: "client-ca"))
      // A client has no host name to compare.
      tls?.certificateVerification = .noHostnameVerification
    }
    return tls
  }

  private func identity(_ certificate: String, _ key: String) throws(StartFailure) -> ServerIdentity {
    let chain = try Self.certificates(certificate, key: "tls-certificate")
    try Self.check("the private key", key, option: "tls-key")
    guard let privateKey = try? NIOSSLPrivateKey(file: key, format: .pem) else {
      throw StartFailure("\(key) has no private key in PEM format without a passphrase", key: "tls-key")
    }
    let identity = ServerIdentity(chain: chain, key: privateKey)
    guard let tls = ServerIdentity.configuration([identity]), (try? NIOSSLContext(configuration: tls)) != nil
    else {
      throw StartFailure("the private key \(key) does not fit the certificate \(certificate)", key: "tls-key")
    }
    return identity
  }

  /// The certificates to trust for origins; nil is the system's.
  ///
  /// - Throws: `StartFailure`.
  func originRoots() throws(StartFailure) -> NIOSSLTrustRoots? {
    guard let upstreamCA else { return nil }
    return .certificates(try Self.certificates(upstreamCA, key: "upstream-ca"))
  }

  /// The certificates in a file.
  ///
  /// - Parameter key: the name of the option that names the file.
  /// - Throws: `StartFailure`.
  static func certificates(_ path: String, key: String) throws(StartFailure) -> [NIOSSLCertificate] {
    try check("the certificate", path, option: key)
    guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
      throw StartFailure("\(path) has no certificate in PEM format", key: key)
    }
    return certificates
  }

  /// Reads a byte of a file, so that an error has the system's reason. A pipe is refused: reading it would wait
  /// for a writer.
  private static func check(
    _ what: String, _ path: String, option: String
  ) throws(StartFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { close(descriptor) } }
    var byte: UInt8 = 0
    guard descriptor >= 0, read(descriptor, &byte, 1) >= 0 else {
      throw StartFailure("cannot read \(what) \(path): \(SystemMessage.text(errno))", key: option)
    }
    var state = stat()
    guard fstat(descriptor, &state) == 0, state.st_mode & S_IFMT == S_IFREG else {
      throw StartFailure("cannot read \(what) \(path): not a regular file", key: option)
    }
  }
}

/// A version of TLS on the command line.
enum TLSVersionArgument: String, CaseIterable, ExpressibleByArgument {
  case tls12 = "1.2"
  case tls13 = "1.3"
}
