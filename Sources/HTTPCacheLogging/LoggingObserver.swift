#if Logging
  public import HTTPCaching
  public import Logging

  /// Logs the cache's events with swift-log: a message per event, with metadata.
  ///
  /// ```swift
  /// let configuration = HTTPCache.Configuration(observer: LoggingObserver(Logger(label: "cache")))
  /// ```
  ///
  /// The metadata has `cache.event` and, depending on the event, `cache.target`, `cache.status` (written as
  /// in `Cache-Status`, RFC 9211), `cache.partition`, `cache.bytes`, `cache.reason`, `cache.operation` and
  /// `cache.error`. A target may contain secrets, so its query is left out by default.
  public struct LoggingObserver: CacheObserver {
    /// The level of an event; nil does not log it.
    public typealias Level = @Sendable (CacheEvent) -> Logger.Level?

    private let logger: Logger
    private let level: Level
    private let showsQueries: Bool

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - logger: the logger.
    ///   - showsQueries: whether targets are logged with their query.
    ///   - level: the level of each event.
    public init(
      _ logger: Logger, showsQueries: Bool = false, level: @escaping Level = LoggingObserver.level(of:)
    ) {
      self.logger = logger
      self.showsQueries = showsQueries
      self.level = level
    }

    /// The default level: `.error` for a store that failed; `.warning` for a damaged entry, for an origin or a hook that
    /// failed, for encryption notices, and for a lost connection with a fleet; `.info` for what callers removed or
    /// invalidated, a site that was cleared, and a new connection with a fleet; `.trace` for answers, `.debug` for the
    /// other events, among them an entry that was evicted while it was used.
    public static func level(of event: CacheEvent) -> Logger.Level? {
      switch event {
      case .storeFailed(_, let error) where event.isOfOneEntry: error.code == .damaged ? .warning : .debug
      case .storeFailed: .error
      case .upstreamFailed(_, let error): error.kind == .cancelled ? .debug : .warning
      case .hookFailed, .encryption, .fleet(.disconnected), .fleet(.invalidatedAll): .warning
      case .fleet(.connected): .info
      case .siteCleared, .wiped, .selectionRemoved, .selectionInvalidated, .selectionExpired: .info
      case .answered: .trace
      case .stored, .kept, .notStored, .removed, .freshened, .invalidated, .notAsked,
        .validatingInBackground, .capacityChanged, .fleet(.applied), .fleet(.published),
        .fleet(.notPublished), .fleet(.failed):
        .debug
      }
    }

    /// Logs the event.
    public func observe(_ event: CacheEvent) {
      guard let level = level(event), level >= logger.logLevel else { return }
      let entry = LogEntry(event, showsQueries: showsQueries)
      logger.log(level: level, "\(entry.message)", metadata: entry.metadata)
    }
  }
#endif
