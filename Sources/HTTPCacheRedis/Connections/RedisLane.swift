#if Redis
  /// The purpose of a connection. A server answers the commands of a connection in their order, so that what takes long
  /// has connections of its own.
  enum RedisLane: Sendable, Hashable {
    /// Short questions, locks and changes.
    case questions
    /// Parts of bodies, and publications.
    case bodies
    /// The log, whose reader waits: over the connection that `newLog` made, and over no other.
    case log
    /// The log, over a new connection if there is none.
    case newLog
  }
#endif
