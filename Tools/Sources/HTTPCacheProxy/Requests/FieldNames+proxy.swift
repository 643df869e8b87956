import HTTPCacheSemantics
import HTTPTypes

extension HTTPField.Name {
  static let forwarded = Self("Forwarded") ?? .via
  static let xForwardedFor = Self("X-Forwarded-For") ?? .via
  static let xForwardedHost = Self("X-Forwarded-Host") ?? .via
  static let xForwardedProto = Self("X-Forwarded-Proto") ?? .via

  /// The name as gateways such as CGI and WSGI compare it: there `X_Forwarded_Host` and `X.Forwarded.Host` are
  /// `X-Forwarded-Host`.
  private var comparable: String { isUnusual ? canonicalName.dashed : canonicalName }

  /// Whether the name has other characters than letters, digits and hyphens.
  var isUnusual: Bool { canonicalName.utf8.contains { !$0.isPlain } }

  /// Whether the field names the client, or the scheme and host that the client requested. Only a trusted proxy may
  /// send such a field.
  var tellsOfClient: Bool {
    guard "cftx".utf8.contains(canonicalName.utf8.first ?? 0) else { return false }
    let name = comparable
    return name == "forwarded" || name == "x-forwarded" || name.hasPrefix("x-forwarded-")
      || Self.clientNames.contains(name)
  }

  /// Whether the field makes some origins answer for another method, path or host than the request line and `Host`
  /// name. The cache key does not have the field, so such an answer would reach other clients.
  var overridesTarget: Bool {
    "bfhprsx".utf8.contains(canonicalName.utf8.first ?? 0) && Self.overridingNames.contains(comparable)
  }

  private static let clientNames: Set<String> = [
    "client-ip", "cf-connecting-ip", "fastly-client-ip", "true-client-ip", "x-client-ip",
    "x-cluster-client-ip",
    "x-original-forwarded-for", "x-real-ip",
  ]

  /// From research on cache poisoning: Kettle, "Practical Web Cache Poisoning" (2018) and "Web Cache Entanglement"
  /// (2020); Nguyen, Lo Iacono and Federrath, "Your Cache Has Fallen" (2019); the word list of Param Miner.
  private static let overridingNames: Set<String> = [
    // Method
    "x-http-method", "x-http-method-override", "x-method", "x-method-override", "x-original-method",
    // Path
    "base-url", "http-url", "path-info", "request-uri", "script-name", "x-envoy-original-path",
    "x-envoy-original-url",
    "x-http-path-override",
    "x-middleware-rewrite", "x-middleware-subrequest", "x-original-path", "x-original-uri", "x-original-url",
    "x-override-url", "x-proxy-url", "x-real-uri", "x-real-url", "x-request-uri", "x-request-url",
    "x-rewrite-path", "x-rewrite-uri", "x-rewrite-url", "x-script-name",
    // Host and scheme
    "front-end-https", "proxy-host", "x-arr-ssl", "x-backend-host", "x-host", "x-host-override",
    "x-http-destinationurl",
    "x-http-host-override", "x-https", "x-original-host", "x-original-proto", "x-real-host", "x-scheme",
    "x-url-scheme",
  ]
}

extension String {
  fileprivate var dashed: String {
    String(decoding: utf8.map { $0.isPlain ? $0 : 0x2D }, as: UTF8.self)
  }
}

extension UInt8 {
  /// Whether it is a small letter, a digit or a hyphen.
  fileprivate var isPlain: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
    default: false
    }
  }
}

extension HTTPFields {
  /// The fields of a response to pass on. `Upgrade` stays in a 426: it names the protocols that the client has to use
  /// (RFC 9110 §15.5.22).
  func forwardable(of status: HTTPResponse.Status) -> HTTPFields {
    var forwarded = FieldHygiene.forwardable(self)
    if status.code == 426, let protocols = self[.upgrade] { forwarded[.upgrade] = protocols }
    return forwarded
  }
}
