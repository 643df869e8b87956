/// The next step of a request that needs the origin: told when the request joins, and when its flight changes.
enum CoalescerNews: Sendable {
  /// Wait for the leader's head.
  case wait(flight: UInt64)
  /// Read along with the leader.
  case share(FlightTransfer)
  /// An invalidation overtook the flight: join another flight, or lead one.
  case joinAgain
  /// The store was changed: look again.
  case lookAgain
  /// Lead: no other request does, or the leader has failed.
  case lead(FlightHold)
  case goAlone
  /// The follower's own time limit passed before the leader's head arrived.
  case timedOut
  case failed(UpstreamError)
  /// The origin answered the leader with this 5xx status, and the leader used a stale response instead.
  case serverError(Int)
}

/// The role of a request that needs the origin.
enum CoalescerRole: Sendable {
  case lead(flight: UInt64)
  case wait(flight: UInt64)
  case share(FlightTransfer)
  case goAlone
}
