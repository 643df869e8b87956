#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCaching
  import NIOHTTP1

  extension HTTPRequest {
    /// The request in the types of the cache; nil if its target is not an http or https URI, or a field name
    /// is not a token.
    init?(_ request: HTTPClientRequest) {
      guard let separator = request.url.firstRange(of: "://"),
        let method = HTTPRequest.Method(request.method.rawValue)
      else { return nil }
      let scheme = request.url[..<separator.lowerBound].lowercased()
      let rest = request.url[separator.upperBound...].prefix { $0 != "#" }
      let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
      let tail = rest[end...]
      self.init(
        method: method, scheme: scheme, authority: String(rest[..<end]),
        path: tail.first == "/" ? String(tail) : "/" + tail)
      guard scheme == "http" || scheme == "https", CacheKey.target(of: self) != nil else { return nil }
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
