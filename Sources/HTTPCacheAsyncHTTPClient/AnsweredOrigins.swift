#if AsyncHTTPClient
  import Synchronization

  /// The origins that have answered a client: it may have idle connections to them, which they close at any moment.
  final class AnsweredOrigins: Sendable {
    private static let limit = 1_024
    private let origins = Mutex<Set<String>>([])

    func contains(_ origin: String) -> Bool { origins.withLock { $0.contains(origin) } }

    /// Adds an origin. Beyond the limit the others are forgotten: their next request is not repeated.
    func insert(_ origin: String) {
      origins.withLock { origins in
        if origins.count >= Self.limit, !origins.contains(origin) { origins.removeAll() }
        origins.insert(origin)
      }
    }
  }
#endif
