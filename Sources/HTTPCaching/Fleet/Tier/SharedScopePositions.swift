/// The positions of the last changes of a class of scopes.
public struct SharedScopePositions: Sendable, Hashable {
  /// The position of the last invalidation; `start` for none.
  public var invalidated: SharedPosition
  /// The position of the last removal or wipe; `start` for none.
  public var removed: SharedPosition

  /// Makes positions.
  ///
  /// - Parameters:
  ///   - invalidated: the position of the last invalidation.
  ///   - removed: the position of the last removal or wipe.
  public init(invalidated: SharedPosition = .start, removed: SharedPosition = .start) {
    self.invalidated = invalidated
    self.removed = removed
  }

  /// Raises the position of a kind of change; a lower one changes nothing.
  public mutating func raise(_ kind: SharedChange.Kind, to position: SharedPosition) {
    switch kind {
    case .invalidate, .expire: invalidated = max(invalidated, position)
    case .remove, .wipe: removed = max(removed, position)
    }
  }

  /// The later position.
  var last: SharedPosition { max(invalidated, removed) }
}
