/// The fleet of a world: processes that share a tier and nothing else.
package struct FleetPlan: Sendable {
  /// A mistake in the protocol, made on purpose: a test then knows that the oracle finds it.
  package enum Mutation: String, Sendable, CaseIterable {
    /// A response carries the position at its publication, not the one before its request.
    case ticketAtPublication = "ticket-at-publication"
    /// A change deletes responses of the tier, and raises no positions.
    case deletesWithoutPositions = "deletes-without-positions"
    /// A change is applied before it is in the log, and not afterwards.
    case appliesOnlyBefore = "applies-only-before"
    /// An own change moves the position of its node: what others changed before it is not read.
    case ownChangeCountsAsRead = "own-change-counts-as-read"
    /// Changes that a server lost are not added again.
    case nothingAddedAgain = "nothing-added-again"
  }

  /// The mistake; nil for the protocol as it is.
  var mutation: Mutation?

  /// Makes a plan.
  ///
  /// - Parameter mutation: the mistake; nil for the protocol as it is.
  package init(mutation: Mutation? = nil) { self.mutation = mutation }
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
  /// The bodies in parts are evicted.
  case evictBodies
  /// A process cannot reach the server, or can again.
  case away(process: Int)
  /// The log has an entry that no process can read.
  case unreadable
}
