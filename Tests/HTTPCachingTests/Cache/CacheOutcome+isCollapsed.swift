import HTTPCaching

extension CacheOutcome {
  var isCollapsed: Bool {
    if case .forwarded(_, _, _, collapsed: true) = self { true } else { false }
  }
}
