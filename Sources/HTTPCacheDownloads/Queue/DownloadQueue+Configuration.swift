public import HTTPCaching

extension DownloadQueue {
  /// The settings that are fixed when a queue is opened.
  public struct Configuration: Sendable {
    /// Transfers at a time in total; 0 starts none. `setLimits(total:perHost:)` changes it.
    public var totalLimit: Int
    /// Transfers at a time from one host and port, at least 1.
    public var perHostLimit: Int
    /// Bytes per second of all transfers together; nil for no limit. `setRateLimit(_:)` changes it.
    public var rateLimit: Int64?
    /// Attempts in a row that bring no new bytes, after which a download fails.
    public var tryLimit: Int
    /// The longest time in seconds from the first attempt to the last; `resume` starts it anew.
    public var timeLimit: Int64
    /// How often a download may begin again at its first byte before it fails with `changed`.
    public var restartLimit: Int
    /// The first wait between two attempts in seconds. Each further one is twice as long, up to `longestWait`;
    /// a random half of it is left out, so that downloads do not return at one moment.
    public var firstWait: Int64
    /// The longest wait between two attempts in seconds.
    public var longestWait: Int64
    /// The longest wait in seconds that a `Retry-After` (RFC 9110 §10.2.3) may ask for; a longer one counts as
    /// this.
    public var longestRetryAfter: Int64
    /// The longest time without a head or a byte before an attempt ends.
    public var stallLimit: Duration
    /// Bytes that stay free on the file systems of the destination and of the cache.
    public var minimumFreeSpace: Int64
    /// The maximum number of downloads in the list.
    public var countLimit: Int
    /// Changes the request of each attempt, for example to add `Authorization`, which is not kept in the list.
    public var prepare: (@Sendable (HTTPRequest) async throws -> HTTPRequest)?
    /// A value that a door passes to its upstream.
    public var context: (any Sendable)?
    /// Returns a number from 0 up to 1, for the random part of waits.
    public var random: @Sendable () -> Double
    /// Returns the free bytes of the file system that has a folder; nil if unknown.
    public var freeSpace: @Sendable (_ folder: String) -> Int64?

    /// Makes a configuration: 4 transfers at a time, 2 of them per host, 8 tries, a day.
    public init() {
      totalLimit = 4
      perHostLimit = 2
      tryLimit = 8
      timeLimit = 86_400
      restartLimit = 3
      firstWait = 1
      longestWait = 300
      longestRetryAfter = 3_600
      stallLimit = .seconds(60)
      minimumFreeSpace = 64 << 20
      countLimit = 100_000
      random = { Double.random(in: 0..<1) }
      freeSpace = { Volume.freeBytes(of: $0) }
    }
  }
}
