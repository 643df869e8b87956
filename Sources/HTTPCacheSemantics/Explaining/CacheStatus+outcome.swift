extension CacheStatus {
  /// Describes how a request was answered (RFC 9211 §2).
  ///
  /// - Parameters:
  ///   - outcome: where the answer came from.
  ///   - name: the name of the cache.
  package init(outcome: CacheOutcome, name: String) {
    self.init(name: name)
    switch outcome {
    case .hit(let age, let lifetime, let allowance):
      hit = true
      ttl = (lifetime - age).wholeSeconds
      detail = allowance?.token
    case .validated(let reason, let age, let lifetime):
      fwd = Self.forward(reason)
      fwdStatus = 304
      ttl = (lifetime - age).wholeSeconds
    case .forwarded(let reason, let status, let storage, let isCollapsed):
      fwd = Self.forward(reason)
      fwdStatus = status
      switch storage {
      case .store: stored = true
      case .doNotStore(let refusal): detail = refusal.token
      }
      if isCollapsed { collapsed = true }
    case .unsatisfiable:
      detail = "unsatisfiable"
    }
  }

  private static func forward(_ reason: ForwardReason) -> Forward {
    switch reason {
    case .validation(let reason): forward(reason)
    case .miss(.absent): .uriMiss
    case .miss(.variantMismatch): .varyMiss
    case .miss(.method): .method
    case .miss(.policy(.bypass)), .miss(.content): .bypass
    case .miss(.policy), .miss(.precondition): .request
    case .miss(.partial): .partial
    case .miss(.storeFailed): .miss
    }
  }

  private static func forward(_ reason: ValidationReason) -> Forward {
    switch reason {
    case .stale, .responseNoCache, .invalidated: .stale
    case .variantMismatch: .varyMiss
    case .requestNoCache, .pragmaNoCache, .requestMaxAge, .requestMinFresh, .guessWithCredentials, .policy:
      .request
    }
  }
}
