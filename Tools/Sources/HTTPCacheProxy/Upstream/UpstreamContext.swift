import HTTPCaching

/// The facts about a request to an origin beside its head: a value of `UpstreamRequest.context`.
struct UpstreamContext: Sendable {
  /// The addresses for `GroupUpstream` to choose from; nil is the origin of the target.
  var group: OriginGroup?
  /// The address to connect to: the one of the group that the request goes to; nil is the origin of the target.
  var address: Origin?
  /// How long the origin may be silent; nil is the upstream's limit.
  var silence: SilenceLimit?
}

extension UpstreamRequest {
  /// The context for `NIOUpstream` and `GroupUpstream`.
  var upstreamContext: UpstreamContext { context.flatMap { $0 as? UpstreamContext } ?? UpstreamContext() }
}
