/// Changes read from the log.
public struct SharedChanges: Sendable {
  /// The changes, in the order of the log.
  public let entries: [SharedLogEntry]
  /// A random word that is in the tier as long as nothing was lost; empty if there is none, as after a loss.
  public let nonce: String

  /// Makes a batch of changes.
  public init(entries: [SharedLogEntry], nonce: String) {
    self.entries = entries
    self.nonce = nonce
  }
}
