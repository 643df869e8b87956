#if Logging
  public import HTTPCaching
  public import Logging

  /// Tells swift-log what the cache does: a message per event, and what it concerns as metadata.
  ///
  /// ```swift
  /// let configuration = HTTPCache.Configuration(observer: LoggingObserver(Logger(label: "cache")))
  /// ```
  ///
  /// The metadata has `cache.event`, and, as far as the event has it, `cache.target`, `cache.status`
  /// (written as in `Cache-Status`, RFC 9211), `cache.partition`, `cache.bytes`, `cache.reason`,
  /// `cache.operation` and `cache.error`. A target may tell secrets: its query is left out unless asked
  /// for.
  public struct LoggingObserver: CacheObserver {
    /// Which level an event is logged at; nil is not at all.
    public typealias Level = @Sendable (CacheEvent) -> Logger.Level?

    private let logger: Logger
    private let level: Level
    private let showsQueries: Bool

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - logger: where to log.
    ///   - showsQueries: whether targets are logged with their query.
    ///   - level: which level an event is logged at.
    public init(
      _ logger: Logger, showsQueries: Bool = false, level: @escaping Level = LoggingObserver.level(of:)
    ) {
      self.logger = logger
      self.showsQueries = showsQueries
      self.level = level
    }

    /// The level where nothing else is said: `.error` for a store that failed, `.warning` for an origin
    /// or a hook that failed and for what encryption found, `.info` for a site that was cleared, `.trace` for answers, `.debug` for the rest.
    public static func level(of event: CacheEvent) -> Logger.Level? {
      switch event {
      case .storeFailed: .error
      case .upstreamFailed(_, let error): error.kind == .cancelled ? .debug : .warning
      case .hookFailed, .encryption: .warning
      case .siteCleared, .wiped: .info
      case .answered: .trace
      default: .debug
      }
    }

    /// Logs the event.
    public func cache(did event: CacheEvent) {
      guard let level = level(event), level >= logger.logLevel else { return }
      let entry = LogEntry(event, showsQueries: showsQueries)
      logger.log(level: level, "\(entry.message)", metadata: entry.metadata)
    }
  }
#endif
