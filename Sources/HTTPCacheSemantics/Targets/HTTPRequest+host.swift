package import HTTPTypes

extension HTTPRequest {
  /// Whether a `Host` field names another authority than the target URI (RFC 9110 §7.2). Another site may then answer:
  /// the response must not be stored for the URI, and no stored response answers.
  package var namesOtherHost: Bool {
    headerFields.contains { field in
      guard field.name.canonicalName == "host", field.value != authority else { return false }
      let (scheme, host) = (scheme ?? "http", authority ?? "")
      let own = TargetURI.parts(of: "\(scheme)://\(host)/")?.authority
      return own == nil || TargetURI.parts(of: "\(scheme)://\(field.value)/")?.authority != own
    }
  }
}
