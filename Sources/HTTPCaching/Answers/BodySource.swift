public import HTTPCacheStore
public import HTTPTypes

/// Where the bytes of a message body come from. One task pulls at a time.
///
/// A source that is dropped before its end stops what feeds it.
public protocol BodySource: AnyObject, Sendable {
  /// The length in bytes, if it is known before the end.
  var length: Int64? { get }

  /// All bytes, if they are in memory and none was pulled: no wait is needed to read them. Nil by default. A caller that
  /// takes them does not pull any more.
  var bytesInMemory: BodyBytes? { get }

  /// The next bytes, never empty; nil at the end.
  ///
  /// - Throws: `UpstreamError` when the transfer fails, `CancellationError`, or what a caller's own
  ///   source throws. After an error or the end it is not called again.
  func next() async throws -> BodyBytes?

  /// The trailer fields; empty before the end.
  var trailers: HTTPFields { get }

  /// The stored bytes behind it, for doors that can send a file region; nil while a body grows.
  var stored: StoredBodyRange? { get }

  /// Stops; calling it again does nothing.
  func cancel()
}

extension BodySource {
  /// Nothing stored.
  public var stored: StoredBodyRange? { nil }

  /// Nothing in memory.
  public var bytesInMemory: BodyBytes? { nil }
}
