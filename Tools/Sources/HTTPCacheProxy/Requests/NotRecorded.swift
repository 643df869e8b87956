/// The cause of an `UpstreamError`: a recording answers instead of the origin, and has no response to the request, or one
/// without its body.
public struct NotRecorded: Error {
  /// Makes a cause.
  public init() {}
}
