/// The role of a request that needs the origin.
enum CoalescerRole: Sendable {
  case lead(flight: UInt64)
  case wait(flight: UInt64)
  case share(SharedTransfer)
  case goAlone
}
