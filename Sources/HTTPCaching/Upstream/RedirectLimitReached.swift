/// The cause of an `UpstreamError`: a response redirects further than `RequestOptions.redirectLimit` allows.
public struct RedirectLimitReached: Error, Sendable, Hashable {
  /// The maximum number of redirects.
  public let limit: Int

  /// Makes an error.
  public init(limit: Int) { self.limit = limit }
}
