public import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The stored response to a request, and each response that is stored in its place: see
/// `CachedURLSession.watch(_:)`.
public struct WatchedResponses: AsyncSequence, Sendable {
  /// A stored body and its response.
  public typealias Element = (Data, URLResponse)

  let updates: EntryUpdates
  let url: URL

  /// Starts to watch.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: updates.makeAsyncIterator(), url: url)
  }

  /// Waits for responses to be stored.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var updates: EntryUpdates.AsyncIterator
    let url: URL

    /// The next stored response; nil if the task is cancelled. A body that is damaged or removed while it is read
    /// is left out.
    public mutating func next() async throws -> (Data, URLResponse)? {
      while let response = await updates.next() {
        let final = response.redirects.isEmpty ? url : URL(string: response.finalTarget) ?? url
        guard let made = CachedHTTPURLResponse(response, url: final) else {
          throw URLError.make(.badServerResponse, "no response for Foundation", url: url)
        }
        let loaded = LoadedResponse(response: made, body: response.body, cached: response)
        do { return (try await loaded.data(), made) } catch is CacheError { continue }
      }
      return nil
    }
  }
}
