/// The role of a request that needs the origin: `CoalescerRole` with the leader's hold.
enum CoalescingTurn: Sendable {
  case lead(FlightHold)
  case wait(flight: UInt64)
  case share(SharedTransfer)
  case goAlone
}
