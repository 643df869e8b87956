#if Redis
  /// Where a server of a cluster sends the asker.
  enum RedisRedirection: Hashable {
    /// The slot has moved.
    case moved(RedisEndpoint)
    /// The slot is moving, and this key is already there.
    case ask(RedisEndpoint)
    /// The keys of the command are on both sides of a slot that is moving.
    case tryAgain

    /// The redirection that an error reply is; nil for any other.
    ///
    /// - Parameter asked: the server that replied.
    init?(_ reply: RESPValue, askedAt asked: RedisEndpoint) {
      guard case .error(let text) = reply else { return nil }
      let words = text.split(separator: " ", maxSplits: 3)
      guard let code = words.first else { return nil }
      if code == "TRYAGAIN" {
        self = .tryAgain
        return
      }
      guard words.count >= 3, let endpoint = RedisEndpoint(words[2], askedAt: asked) else { return nil }
      switch code {
      case "MOVED": self = .moved(endpoint)
      case "ASK": self = .ask(endpoint)
      default: return nil
      }
    }
  }
#endif
