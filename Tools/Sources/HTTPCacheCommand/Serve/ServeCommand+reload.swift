import HTTPCacheProxy

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension ServeCommand {
  /// Does what SIGHUP and SIGUSR1 ask for. What cannot be read stays as it was.
  func reload(_ number: Int32, _ server: ProxyServer, _ log: AccessLog, _ messages: LineWriter) {
    do throws(AccessLog.OpenFailure) {
      try log.reopen()
    } catch {
      messages.add("httpcache: the access log stays where it was: \(error.description)\n")
    }
    if number == SIGHUP { reloadCertificates(server, messages) }
  }

  private func reloadCertificates(_ server: ProxyServer, _ messages: LineWriter) {
    do {
      guard let configuration = try tls.listener() else { return }
      try server.setTLS(configuration)
      messages.add("httpcache: the certificates were read again\n")
    } catch {
      messages.add("httpcache: the certificates stay as they were: \(error)\n")
    }
  }
}
