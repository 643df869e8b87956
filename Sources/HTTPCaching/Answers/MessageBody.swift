public import HTTPCacheStore
public import HTTPTypes

/// The body of a request or response: a sequence of bytes that is pulled once.
public struct MessageBody: Sendable, AsyncSequence {
  /// The parts are shared slices of bytes.
  public typealias Element = BodyBytes

  /// Where the bytes come from.
  public let source: any BodySource

  /// Makes a body over a source.
  public init(_ source: any BodySource) { self.source = source }

  /// Makes a body of bytes in memory.
  public init(_ bytes: BodyBytes, trailers: HTTPFields = [:]) {
    source = BytesSource(bytes, trailers: trailers)
  }

  /// An empty body.
  public static var empty: MessageBody { MessageBody(BodyBytes()) }

  /// The length in bytes, if it is known before the end.
  public var length: Int64? { source.length }

  /// The trailer fields; empty before the end.
  public var trailers: HTTPFields { source.trailers }

  /// All bytes, if they are in memory and none was pulled: no suspension is needed to read them.
  package var bytesInMemory: BodyBytes? { source.bytesInMemory }

  /// Pulls the bytes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: any BodySource

    /// The next bytes, never empty; nil at the end.
    ///
    /// - Throws: the error that ended the body early: an `UpstreamError`, a `CacheError`, or
    ///   `CancellationError`.
    @concurrent
    public func next() async throws -> BodyBytes? {
      do { return try await source.next() } catch let error as UpstreamError { throw error.ofCaller }
    }
  }

  /// Begins to pull. A second iterator continues where the first one stopped.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  /// All bytes in one piece. If this throws, the source is cancelled.
  ///
  /// - Parameter limit: the maximum number of bytes.
  /// - Throws: `MessageBody.TooLong` if the body is longer; `CancellationError` at once when the task is
  ///   cancelled; what the source throws.
  @concurrent
  public func collect(upTo limit: Int = .max) async throws -> BodyBytes {
    do {
      let bytes = try await withTaskCancellationHandler {
        try await collected(upTo: limit)
      } onCancel: {
        source.cancel()
      }
      // A cancelled source may end as if it were complete.
      try Task.checkCancellation()
      return bytes
    } catch {
      source.cancel()
      throw (error as? UpstreamError)?.ofCaller ?? error
    }
  }

  private func collected(upTo limit: Int) async throws -> BodyBytes {
    guard let first = try await source.next() else { return BodyBytes() }
    guard first.count <= limit else { throw TooLong(limit: limit) }
    guard let second = try await source.next() else { return first }
    var all = first.array
    var more: BodyBytes? = second
    while let bytes = more {
      guard bytes.count <= limit - all.count else { throw TooLong(limit: limit) }
      bytes.withUnsafeBytes { all.append(contentsOf: $0) }
      more = try await source.next()
    }
    return BodyBytes(all)
  }

  /// The body is longer than its reader allows.
  public struct TooLong: Error, Sendable, CustomStringConvertible {
    /// The maximum number of bytes.
    public let limit: Int

    /// The limit in words.
    public var description: String { "the body is longer than the limit of \(limit) bytes" }
  }
}
