/// What a request that waited for another's answer is told.
enum CoalescerNews: Sendable {
  /// Read along.
  case share(SharedTransfer)
  /// What was waited for was overtaken by an invalidation: join another flight, or lead one.
  case joinAgain
  /// The store was changed: look again.
  case lookAgain
  /// Lead in the place of the one that failed.
  case lead(FlightHold)
  case goAlone
  /// The follower's own time has passed before the leader's head came.
  case timedOut
  case failed(UpstreamError)
  /// The origin answered with this 5xx status, and the leader used a stale response instead.
  case serverError(Int)
}
