#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheSemantics
  import HTTPCaching
  import NIOHTTP1

  extension HTTPRequest {
    /// The request in the types of the cache; nil if its scheme is not http or https, a field name is not a token, or
    /// there are more fields than `HTTPFields.countLimit`.
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
        guard let name = HTTPField.Name(name), headerFields.appendBounded(HTTPField(name: name, value: value))
        else { return nil }
      }
    }
  }
#endif
