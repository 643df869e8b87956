import ArgumentParser

/// The proxy for each URL, from options and environment, as curl reads them.
struct ProxySettings: Sendable {
  /// The proxy for http URLs.
  let http: ProxyAddress?
  /// The proxy for https URLs.
  let https: ProxyAddress?
  private let exceptions: NoProxyList

  /// No proxies.
  init() {
    http = nil
    https = nil
    exceptions = NoProxyList("")
  }

  /// Reads the settings. An empty variable counts as unset, so that the next one is read; an empty option does not.
  ///
  /// - Parameters:
  ///   - proxy: the value of `--proxy`; empty for no proxy.
  ///   - user: the value of `--proxy-user`.
  ///   - noProxy: the value of `--noproxy`.
  /// - Throws: `ValidationError` for a proxy that cannot be used.
  init(proxy: String?, user: String?, noProxy: String?, environment: [String: String]) throws {
    let environment = environment.filter { !$0.value.isEmpty }
    let exceptions = NoProxyList(noProxy ?? environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    // A CGI server sets HTTP_PROXY to the `Proxy` field of a request, so only the lower-case http_proxy counts.
    let httpNames = ["http_proxy", "all_proxy", "ALL_PROXY"]
    let httpsNames = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let credentials = try user.map { text throws -> Credentials in
      guard let credentials = Credentials(text) else {
        throw ValidationError("--proxy-user requires user:password")
      }
      return credentials
    }
    self.exceptions = exceptions
    func address(_ names: [String]) throws -> ProxyAddress? {
      let found = names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first
      let (source, text) = proxy.map { ("--proxy", $0) } ?? found.map { ("$\($0.0)", $0.1) } ?? ("", "")
      guard !text.isEmpty, !exceptions.isAll else { return nil }
      var address = try ProxyAddress(text, from: source)
      if let credentials, address.kind == .http { address.credentials = credentials }
      return address
    }
    http = try address(httpNames)
    https = try address(httpsNames)
  }

  /// The proxy for a host; nil asks the origin itself.
  func proxy(scheme: String, host: String, port: Int) -> ProxyAddress? {
    guard let proxy = scheme == "https" ? https : http, !exceptions.contains(host: host, port: port)
    else { return nil }
    return proxy
  }
}
