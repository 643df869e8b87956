import HTTPCaching

extension CacheOutcome {
  var isCollapsed: Bool {
    if case .forwarded(_, _, _, collapsed: true) = self { true } else { false }
  }

  /// Whether the tier answered.
  var isShared: Bool { if case .shared = self { true } else { false } }
}
