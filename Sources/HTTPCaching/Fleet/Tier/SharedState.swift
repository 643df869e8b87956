/// The log, and the positions of scopes: what a node reads before it uses the tier.
public struct SharedState: Sendable {
  /// A random word that is in the tier as long as nothing was lost. `SharedTier.state` makes one if there is none, and
  /// raises the class of everything.
  public let nonce: String
  /// The changes that the log still has, in its order.
  public let log: [SharedLogEntry]
  /// Whether the log was ever cut at its beginning: changes before the first are unknown.
  public let isCut: Bool
  /// For each class of scopes that was ever changed, the position of its last change.
  public let scopes: [Int: SharedPosition]

  /// Makes a state.
  public init(
    nonce: String, log: [SharedLogEntry], isCut: Bool, scopes: [Int: SharedPosition]
  ) {
    self.nonce = nonce
    self.log = log
    self.isCut = isCut
    self.scopes = scopes
  }

  /// The position of the first change that the log would still have: changes before it were cut, not lost.
  var start: SharedPosition { isCut ? log.first?.position ?? .start : .start }
}
