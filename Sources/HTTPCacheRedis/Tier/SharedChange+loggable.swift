#if Redis
  import HTTPCacheSemantics
  import HTTPCacheStore
  import HTTPCaching

  extension SharedChange {
    /// The longest encoded selection in the log, in bytes: 10,000 of them are less than one reply may be.
    private static let longestSelection = 2_048

    /// The change in the length that the log keeps. A long selection is replaced by one that covers it: that of all
    /// targets of its origin, or of everything.
    var loggable: SharedChange {
      guard Self.isLong(selection) else { return self }
      let wider = Self.origin(of: selection).map { CacheSelection.prefix($0 + "/") } ?? .all
      return SharedChange(uid: uid, kind: kind, selection: Self.isLong(wider) ? .all : wider)
    }

    private static func isLong(_ selection: CacheSelection) -> Bool {
      SelectionCodec.encode(selection).count > longestSelection
    }

    /// The origin that has all that a selection covers; nil if there is more than one.
    private static func origin(of selection: CacheSelection) -> String? {
      switch selection {
      case .key(let key), .variant(let key, _): TargetURI.origin(of: key.target)
      case .target(let text), .site(let text, _, _), .group(let text, _): TargetURI.origin(of: text)
      // A prefix that ends in a host is that of other hosts, too.
      case .prefix(let text): TargetURI.origin(of: text).flatMap { text.hasPrefix($0 + "/") ? $0 : nil }
      case .all, .partition, .storedSince, .unusedSince, .storedBefore: nil
      }
    }
  }
#endif
