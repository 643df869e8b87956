import HTTPCacheProxy
import NIOSSL

/// The certificates, keys and tokens in the files that options of `serve` name.
struct ServeFiles {
  /// The TLS configuration of the listener; nil without TLS.
  let tls: TLSConfiguration?
  let admin: AdminAccess
  /// The clients that may purge; nil if none may.
  let purging: PurgeRights?

  /// Reads the files.
  ///
  /// - Throws: `StartFailure` for a file that cannot be used.
  init(_ command: ServeCommand) throws(StartFailure) {
    tls = try command.tls.listener()
    admin = try command.admin.access()
    purging = try command.purging.rights()
  }

  /// Whether a running server can take new files.
  var hasChangeable: Bool { tls != nil || admin.requiresToken || purging != nil }

  /// The new TLS configuration of a running server; nil if there was none, or is none now. Its least version of TLS stays
  /// that of the start: the log says that `tls-min-version` counts after a restart.
  func configuration(of new: ServeFiles) -> TLSConfiguration? {
    guard let tls, var configuration = new.tls else { return nil }
    configuration.minimumTLSVersion = tls.minimumTLSVersion
    return configuration
  }

  /// Gives certificates and tokens that were read again to a running server.
  ///
  /// - Parameter new: the files as they are now.
  /// - Returns: the keys whose change needs a restart.
  /// - Throws: NIOSSL's error for certificates that cannot be used; the server then keeps all that it has.
  func replace(with new: ServeFiles, in server: ProxyServer) throws -> [String] {
    var later: [String] = []
    if let configuration = configuration(of: new) {
      try server.setTLS(configuration)
    } else if (new.tls == nil) != (tls == nil) {
      later.append("tls-certificate")
    }
    if !admin.takeToken(of: new.admin) { later.append("admin-token-file") }
    if let purging, let rights = new.purging {
      purging.takeToken(of: rights)
    } else if (purging == nil) != (new.purging == nil) {
      later.append("purge-token-file")
    }
    return later
  }
}
