import HTTPCaching

/// An upstream that shows the heads of requests and responses.
struct VerboseUpstream: Upstream {
  let base: any Upstream
  let proxies: ProxySettings
  let tell: @Sendable (String) -> Void

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let head = request.head
    if let url = try? TargetURL(parsing: "\(head.scheme ?? "")://\(head.authority ?? "")/"),
      let proxy = proxies.proxy(scheme: url.scheme, host: url.host, port: url.port)
    {
      tell("* through the \(proxy.kind) proxy \(proxy.host):\(proxy.port)\n")
    }
    tell(Self.text(head))
    do {
      let response = try await base.send(request)
      tell(Self.text(response.head))
      return response
    } catch {
      tell("* \(error.message)\n")
      throw error
    }
  }

  /// The head of a request as text.
  static func text(_ head: HTTPRequest) -> String {
    var text = "> \(head.method.rawValue) \(head.path ?? "/")\n"
    if head.headerFields.allSatisfy({ $0.name.canonicalName != "host" }) {
      text += "> Host: \(head.authority ?? "")\n"
    }
    return text + lines(head.headerFields, "> ") + ">\n"
  }

  /// The head of a response as text.
  static func text(_ head: HTTPResponse) -> String {
    "< HTTP \(head.status.code) \(head.status.reasonPhrase)\n" + lines(head.headerFields, "< ") + "<\n"
  }

  private static func lines(_ fields: HTTPFields, _ mark: String) -> String {
    fields.map { "\(mark)\($0.name.rawName): \($0.shownValue)\n" }.joined()
  }
}

extension HTTPField {
  /// The value for messages and reports, without secrets; the scheme of an authorization is shown.
  var shownValue: String {
    switch name.canonicalName {
    case "authorization", "proxy-authorization":
      let parts = value.split(separator: " ", maxSplits: 1)
      return parts.count == 2 ? "\(parts[0]) …" : "…"
    case "cookie", "set-cookie": return "…"
    case "location": return TargetURL.shown(value)
    case let name where ["token", "api-key", "apikey", "secret", "password"].contains(where: name.contains):
      return "…"
    default: return value
    }
  }
}
