/// The cause of an `UpstreamError`: a recording answers instead of the origin, and has no response to the request, or one
/// without its body.
public struct NotRecorded: Error, CustomStringConvertible {
  /// Makes a cause.
  public init() {}

  /// A few words for people.
  public var description: String { "the recording has no usable response to this request" }
}
