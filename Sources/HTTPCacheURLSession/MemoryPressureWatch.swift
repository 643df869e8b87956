#if canImport(Darwin)
  import Dispatch
  public import HTTPCaching

  /// Trims the memory of a cache when the system warns that it runs out of it, on Apple's systems: to the
  /// half, and if it is critical to nothing. It does so as long as it is kept.
  public final class MemoryPressureWatch: @unchecked Sendable {
    // @unchecked Sendable because the sources are set up once and only cancelled after that.
    private let sources: [any DispatchSourceMemoryPressure]

    /// Begins to watch.
    ///
    /// - Parameter cache: which is not kept by it.
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
