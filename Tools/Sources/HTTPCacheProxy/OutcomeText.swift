import HTTPCaching

extension CacheOutcome {
  /// One word for a log.
  var label: String {
    switch self {
    case .hit(_, _, allowance: nil): "hit"
    case .hit: "stale"
    case .validated: "validated"
    case .forwarded(_, _, _, collapsed: true): "collapsed"
    case .forwarded(.miss(.policy), _, _, _): "pass"
    case .forwarded(.miss, _, _, _): "miss"
    case .forwarded(.validation, _, _, _): "refetched"
    case .unsatisfiable: "unsatisfiable"
    }
  }
}
