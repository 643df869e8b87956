#if Redis
  /// The host and port of one server.
  struct RedisEndpoint: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let port: Int

    var description: String {
      host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }

  extension RedisEndpoint {
    /// The endpoint that a redirection names, such as `127.0.0.1:7001`; nil for any other text.
    ///
    /// - Parameter asked: the server that redirects; an endpoint without a host, or with `?` for it, is on its host.
    init?(_ text: some StringProtocol, askedAt asked: RedisEndpoint) {
      guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
        return nil
      }
      self.init(host: String(text[..<colon]), port: Int64(port), askedAt: asked)
    }

    /// Nil if there is no such host or port.
    init?(host: String?, port: Int64, askedAt asked: RedisEndpoint) {
      guard (1...65_535).contains(port) else { return nil }
      let host = host ?? ""
      if host.isEmpty || host == "?" {
        self.init(host: asked.host, port: Int(port))
      } else {
        guard host.utf8.count <= 255, RedisAddress.isHost(host) else { return nil }
        self.init(host: host, port: Int(port))
      }
    }
  }
#endif
