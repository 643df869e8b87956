#if Redis
  import NIOCore

  /// How long a caller waits for the replies to its commands.
  struct RedisDeadline: Sendable {
    /// When the caller stops waiting, whatever arrives.
    let end: NIODeadline
    /// The longest time without a byte from the server; nil for no such limit.
    let progress: TimeAmount?

    /// A deadline that begins now.
    init(_ total: Duration, progress: Duration? = nil) {
      end = .now() + TimeAmount(total)
      self.progress = progress.map { TimeAmount($0) }
    }

    /// The moment by which the next byte must have arrived.
    var next: NIODeadline { progress.map { min(end, .now() + $0) } ?? end }
  }
#endif
