import HTTPCaching

/// The facts about a request to an origin beside its head: a value of `UpstreamRequest.context`.
struct UpstreamContext: Sendable {
  /// The addresses to choose from; nil is the origin of the target.
  var group: OriginGroup?
  /// How long the origin may be silent; nil is the upstream's limit.
  var silence: SilenceLimit?
}

extension UpstreamRequest {
  /// The context for `NIOUpstream`.
  var upstreamContext: UpstreamContext { context.flatMap { $0 as? UpstreamContext } ?? UpstreamContext() }
}
