#if canImport(Darwin)
  import Dispatch
  public import HTTPCaching

  /// Trims the memory of a cache when the system is low on memory, on Apple's systems: to half at a warning,
  /// to nothing if memory is critical. It works as long as this object exists.
  public final class MemoryPressureWatch: @unchecked Sendable {
    // @unchecked Sendable because the sources are set up once and only cancelled after that.
    private let sources: [any DispatchSourceMemoryPressure]

    /// Starts watching.
    ///
    /// - Parameter cache: the cache, which is referenced weakly.
    public init(_ cache: HTTPCache) {
      let warning = DispatchSource.makeMemoryPressureSource(eventMask: .warning, queue: nil)
      warning.setEventHandler { [weak cache] in
        guard let cache else { return }
        cache.trimMemory(to: cache.usage.memoryBytes / 2)
      }
      let critical = DispatchSource.makeMemoryPressureSource(eventMask: .critical, queue: nil)
      critical.setEventHandler { [weak cache] in cache?.trimMemory() }
      sources = [warning, critical]
      for source in sources { source.activate() }
    }

    deinit { for source in sources { source.cancel() } }
  }
#endif
