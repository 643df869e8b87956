import HTTPCaching

/// The way to origins of a harvest. The user names some hosts; a page or a sitemap may link to any other, as to a
/// service of this machine or of its network. So a host that is only linked to must have a public address.
struct HarvestUpstream: Upstream {
  /// The context of a request.
  struct Place: Sendable {
    /// The number of the request.
    let number: Int
    /// Whether the request goes to the origin of the URL that the user named, from which it was found.
    let isNamed: Bool
  }

  let named: any Upstream
  /// Connects to allowed addresses only.
  let linked: any Upstream

  var defaultTimeout: Duration? { named.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var request = request
    let isNamed = (request.context as? Place)?.isNamed ?? false
    request.context = nil
    return try await (isNamed ? named : linked).send(request)
  }
}
