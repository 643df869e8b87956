public import HTTPCaching
package import HTTPTypes

extension HTTPRequest {
  /// The request that Foundation would send: method, target, fields. Not its body.
  ///
  /// User information in the URL becomes `Authorization` if the request has none (RFC 7617 §2); the fragment
  /// is dropped. A `Host` field stays only if it differs from the URL: such a request must not be answered
  /// from what is stored for the URL (`namesOtherHost`).
  ///
  /// - Throws: `CacheError.invalidRequest` without a URL, for a URL that is not `http` or `https`, has no
  ///   host or is longer than `TargetURI.lengthLimit`, and for a method that is not a token.
  package init(_ request: URLRequest) throws(CacheError) {
    guard let url = request.url else {
      throw CacheError(.invalidRequest, "the request has no URL")
    }
    guard let target = HTTPTarget(url) else {
      throw CacheError(
        .invalidRequest, "no http or https URL with a host: \(url.absoluteString.prefix(200))")
    }
    let name = request.httpMethod ?? "GET"
    guard let method = HTTPRequest.Method(name) else {
      throw CacheError(.invalidRequest, "no method: \(name.prefix(40))")
    }
    self.init(
      method: method, scheme: target.scheme, authority: target.authority, path: target.path,
      headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:]))
    if !headerFields.contains(.authorization), let authorization = target.authorization {
      headerFields[.authorization] = authorization
    }
    if headerFields.contains(where: { $0.isHost && $0.value == target.authority }) {
      headerFields.removeAll(where: \.isHost)
    }
  }
}

extension URLRequest {
  /// The request for Foundation to send, without a body.
  ///
  /// - Throws: `CacheError.invalidRequest` if scheme, authority and path make no URL, and for the asterisk form
  ///   (RFC 9112 §3.2.4), which Foundation cannot send.
  package init(_ request: HTTPRequest) throws(CacheError) {
    let path = request.path ?? ""
    let text = "\(request.scheme ?? "http")://\(request.authority ?? "")\(path)"
    guard path.hasPrefix("/"), let url = URL(string: text), let target = HTTPTarget(url) else {
      throw CacheError(.invalidRequest, "no URL for Foundation: \(text.prefix(200))")
    }
    self.init(url: url)
    httpMethod = request.method.rawValue
    for (name, value) in request.headerFields.dictionary {
      // Foundation adds an equal field itself.
      if name.lowercased() == "host", value == target.authority { continue }
      setValue(value, forHTTPHeaderField: name)
    }
  }
}

extension HTTPField {
  /// Whether the field is `Host`, which HTTPTypes replaces with the authority.
  fileprivate var isHost: Bool { name.canonicalName == "host" }
}

extension HTTPResponse {
  /// Status and fields of a Foundation response; nil if the status does not have three digits.
  package init?(_ response: HTTPURLResponse) {
    guard (100...999).contains(response.statusCode) else { return nil }
    self.init(
      status: Status(code: response.statusCode), headerFields: HTTPFields(response.allHeaderFields))
  }
}

extension CachePolicy {
  /// The policy for a policy of a `URLRequest` or a `URLSessionConfiguration`.
  public init(_ policy: URLRequest.CachePolicy) {
    self =
      switch policy {
      case .useProtocolCachePolicy: .standard
      case .reloadIgnoringLocalCacheData: .reload
      case .reloadIgnoringLocalAndRemoteCacheData: .reloadEverywhere
      case .returnCacheDataElseLoad: .cacheElseNetwork
      case .returnCacheDataDontLoad: .cacheOnly
      case .reloadRevalidatingCacheData: .revalidate
      @unknown default: .standard
      }
  }
}

extension Data {
  /// A copy of the bytes.
  init(_ bytes: BodyBytes) { self = bytes.withUnsafeBytes { Data($0) } }
}
