#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCaching
  import NIOHTTP1

  extension HTTPRequest {
    /// The request in the types of the cache; nil if its scheme is not http or https, or a field name is not a token.
    init?(_ request: HTTPClientRequest) {
      let url = request.url.utf8
      guard let colon = url.firstIndex(of: UInt8(ascii: ":")), url[colon...].starts(with: "://".utf8),
        let method = HTTPRequest.Method(request.method.rawValue)
      else { return nil }
      let scheme = request.url[..<colon].lowercased()
      guard scheme == "http" || scheme == "https" else { return nil }
      let rest = url[url.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
      let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
      let tail = String(Substring(rest[end...]))
      self.init(
        method: method, scheme: scheme, authority: String(Substring(rest[..<end])),
        path: rest[end...].first == UInt8(ascii: "/") ? tail : "/" + tail)
      headerFields.reserveCapacity(request.headers.count)
      for (name, value) in request.headers {
        guard let name = HTTPField.Name(name) else { return nil }
        headerFields.append(HTTPField(name: name, value: value))
      }
    }

    /// Whether `Host` names another authority than the URI (RFC 9110 §7.2).
    var hasHostOfItsOwn: Bool {
      headerFields.contains { $0.name.canonicalName == "host" && $0.value != authority }
    }
  }
#endif
