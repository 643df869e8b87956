import HTTPCaching

/// The stored response to a request, and its changes: see `CachedURLSession.watch(_:)`.
public struct WatchedResponses: AsyncSequence, Sendable {
  /// A change of the stored response.
  public typealias Element = WatchedUpdate

  let updates: EntryUpdates
  let url: URL

  /// Starts to watch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: updates.makeAsyncIterator(), url: url)
  }

  /// Waits for the stored response to change.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var updates: EntryUpdates.AsyncIterator
    let url: URL

    /// The next update; nil if the task is cancelled. A body that is damaged or removed while it is read is left
    /// out.
    ///
    /// - Throws: `URLError` for a response that Foundation cannot express.
    public mutating func next() async throws -> WatchedUpdate? {
      while let update = await updates.next() {
        switch update {
        case .stored(let response):
          let made = try CachedHTTPURLResponse.made(of: response, to: url)
          let loaded = LoadedResponse(response: made, body: response.body, cached: response)
          do { return .stored(try await loaded.data(), made) } catch is CacheError { continue }
        case .freshened(let response):
          return .freshened(try CachedHTTPURLResponse.made(of: response, to: url))
        case .invalidated: return .invalidated
        case .removed: return .removed
        }
      }
      return nil
    }
  }
}
