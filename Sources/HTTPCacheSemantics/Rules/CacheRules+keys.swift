extension CacheRules {
  /// The maximum number of overrides of keys that depend on more of the request than its target.
  private static let uncertainLimit = 6

  /// The target of the key for a target. Requires resolved rules.
  package func keyTarget(of target: String) -> String {
    guard let applied, applied.keyFingerprint != 0 else { return target }
    return keyTarget(of: target, with: applied.matched)
  }

  /// The targets that the keys of requests for a target may have, including itself. A caller that removes or
  /// invalidates the target must do so for these targets, too.
  ///
  /// - Parameter target: a normalised target URI.
  /// - Returns: nil if too many overrides depend on other properties of the request: any target of the origin
  ///   is then possible.
  public func keyTargets(of target: String) -> [String]? {
    var certain: [Int] = []
    var uncertain: [Int] = []
    for (index, override) in overrides.enumerated() where override.keyFingerprint != 0 {
      let matching = override.targets.filter { $0.matches(target: target) }
      guard override.targets.isEmpty || !matching.isEmpty else { continue }
      let isCertain =
        override.methods.isEmpty
        && (override.targets.isEmpty || matching.contains { !$0.needsRequest })
      if isCertain { certain.append(index) } else { uncertain.append(index) }
    }
    guard uncertain.count <= Self.uncertainLimit else { return nil }
    var targets = [target]
    for choice in 0..<(1 << uncertain.count) {
      let chosen = uncertain.indices.filter { choice >> $0 & 1 == 1 }.map { uncertain[$0] }
      let key = keyTarget(of: target, with: (certain + chosen).sorted())
      if !targets.contains(key) { targets.append(key) }
    }
    return targets
  }

  private func keyTarget(of target: String, with indices: [Int]) -> String {
    var key = KeyTarget(target)
    for index in indices where overrides[index].keyFingerprint != 0 {
      for effect in overrides[index].effects { key.apply(effect) }
    }
    return key.target
  }
}
