import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// An upstream that repairs `Location` of redirects as a URL of the command line is repaired (RFC 9110 §10.2.2):
/// spaces and other characters that a URI must not have, hosts with letters outside of ASCII, several fields.
struct LocationRepair: Upstream {
  let base: any Upstream

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await base.send(request)
    guard (300..<400).contains(response.head.status.code) else { return response }
    // Of several, clients follow the first. An empty one is none: it would be the request itself.
    let location = response.head.headerFields[fields: .location].first { !$0.value.isEmpty }?.value
    response.head.headerFields[.location] = location.map {
      Self.repaired($0, scheme: request.head.scheme) ?? $0
    }
    return response
  }

  /// A reference that is one; nil if it is one already, or has no valid host.
  ///
  /// - Parameter scheme: that of the request.
  static func repaired(_ reference: String, scheme: String?) -> String? {
    let isNetworkPath = reference.hasPrefix("//")
    guard isNetworkPath || hasScheme(reference) else {
      // A reference without an authority is encoded from its first character on.
      let start = Authority.range(in: reference.utf8)?.upperBound ?? reference.startIndex
      let encoded = TargetURL.encodingPath(of: reference, from: start)
      return encoded == reference ? nil : encoded
    }
    let absolute = isNetworkPath ? "\(scheme ?? "http"):\(reference)" : reference
    let isValid = absolute.utf8.allSatisfy { $0 < 0x80 } && TargetURL.encodingPath(of: absolute) == absolute
    guard !isValid, let url = try? TargetURL(parsing: absolute) else { return nil }
    let user = url.credentials.map {
      TargetURI.percentEncoded($0.user.utf8)
        + (url.hasPassword ? ":" + TargetURI.percentEncoded($0.password.utf8) : "") + "@"
    }
    return "\(url.scheme)://\(user ?? "")\(url.authority)\(url.path)"
  }

  private static func hasScheme(_ reference: String) -> Bool {
    let scheme = reference.lowercased().prefix { $0 != ":" }
    return (scheme == "http" || scheme == "https") && reference.dropFirst(scheme.count).hasPrefix("://")
  }
}
