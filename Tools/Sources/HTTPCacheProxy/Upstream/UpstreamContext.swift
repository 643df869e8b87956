import HTTPCaching

/// The facts about a request to an origin beside its head: a value of `UpstreamRequest.context`.
struct UpstreamContext: Sendable {
  /// The addresses to connect to; nil is the origin of the target.
  var group: OriginGroup?
  /// The one address of the group that the request goes to.
  var address: Origin?
  /// How long the origin may be silent; nil is the upstream's limit.
  var silence: SilenceLimit?
}

extension UpstreamRequest {
  /// The context for `NIOUpstream` and `GroupUpstream`, which may be a group or an address alone.
  var upstreamContext: UpstreamContext {
    guard let context else { return UpstreamContext() }
    return context as? UpstreamContext
      ?? UpstreamContext(group: context as? OriginGroup, address: context as? Origin)
  }
}
