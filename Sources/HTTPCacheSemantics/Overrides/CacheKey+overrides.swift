public import HTTPTypes

extension CacheKey {
  /// Makes the key of a request after applying the overrides of the rules. Overrides never change the origin
  /// of a target.
  ///
  /// - Returns: nil if the request has no authority or path, or no valid `http` or `https` target.
  public init?(request: HTTPRequest, rules: CacheRules, partition: String = "") {
    guard let target = Self.target(of: request) else { return nil }
    let rules = rules.resolved(for: request, target: target)
    self.init(request: request, target: target, rules: rules, partition: partition)
  }

  /// Like `init(request:rules:partition:)`, for resolved rules and a known normalised target.
  package init(request: HTTPRequest, target: String, rules: CacheRules, partition: String) {
    self.init(
      mode: rules.mode, partition: partition, methodClass: request.method == .query ? .query : .get,
      target: rules.keyTarget(of: target))
  }
}
