#if Redis
  import HTTPCaching
  import NIOCore

  /// Commands that are written together, and their replies so far.
  struct RedisFlush: Sendable {
    typealias Outcome = Result<[RESPValue], SharedTierError>

    let bytes: ByteBuffer
    let deadline: RedisDeadline
    /// The moment at which it fails, if nothing arrives before.
    private(set) var next: NIODeadline
    private let count: Int
    private(set) var replies: [RESPValue] = []
    /// Called once.
    let finish: @Sendable (Outcome) -> Void

    /// - Parameter commands: not empty.
    init(
      _ commands: [RedisCommand], by deadline: RedisDeadline, _ finish: @escaping @Sendable (Outcome) -> Void
    ) {
      var bytes: [UInt8] = []
      let encodable = commands.map { $0.map(\.bytes) }
      bytes.reserveCapacity(encodable.reduce(0) { $0 + RESPEncoder.length(of: $1) })
      for command in encodable { RESPEncoder.append(command, to: &bytes) }
      self.bytes = ByteBuffer(bytes: bytes)
      self.deadline = deadline
      next = deadline.next
      count = commands.count
      self.finish = finish
    }

    /// Adds a reply.
    ///
    /// - Returns: whether it was the last.
    mutating func add(_ reply: RESPValue) -> Bool {
      replies.append(reply)
      return replies.count == count
    }

    /// Notes that bytes arrived.
    mutating func progressed() { next = deadline.next }
  }
#endif
