/// The fleet of a world: processes that share a tier and nothing else.
struct FleetPlan: Sendable {
  /// A mistake in the protocol, made on purpose: a test then knows that the oracle finds it.
  enum Mutation: String, Sendable, CaseIterable {
    /// A response carries the position at its publication, not the one before its request.
    case ticketAtPublication
    /// A change deletes responses of the tier, and raises no positions.
    case deletesWithoutPositions
    /// A change is applied before it is in the log, and not afterwards.
    case appliesOnlyBefore
    /// An own change moves the position of its node.
    case ownChangeCountsAsRead
    /// Changes that a server lost are not added again.
    case nothingAddedAgain
  }

  var mutation: Mutation?
}

/// An event of the tier of a fleet.
enum TierFault: Sendable {
  /// Everything is copied to the replica.
  case replicate
  /// The replica takes the place of the server.
  case failOver
  /// Everything is lost; connections stay.
  case flush
  /// The responses of a target are evicted.
  case evict(target: Int)
  /// A process cannot reach the server, or can again.
  case away(process: Int)
  /// The log has an entry that no process can read.
  case unreadable
}
