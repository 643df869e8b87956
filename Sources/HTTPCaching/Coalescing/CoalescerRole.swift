/// What a request that wants the origin does.
enum CoalescerRole: Sendable {
  case lead(flight: UInt64)
  case wait(flight: UInt64)
  case share(SharedTransfer)
  case goAlone
}
