import Foundation
import HTTPCacheURLSession
import HTTPCaching

/// One of the compared ways to load.
struct ComparedClient: Sendable {
  typealias Answer = (data: Data, response: URLResponse)

  let name: String
  let load: @Sendable (URLRequest) async throws -> Answer
  let download: @Sendable (URLRequest) async throws -> Answer
  let end: @Sendable () -> Void

  /// Foundation alone, with its own cache.
  static func foundation() -> ComparedClient {
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = URLCache(
      memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: "/dev/null/none")
    return session("Foundation alone", URLSession(configuration: configuration)) {}
  }

  /// Foundation's session with one changed line: its configuration loads through a cache.
  static func withProtocol() throws -> ComparedClient {
    let configuration = URLSessionConfiguration.default.caching(with: try cache())
    return session("`URLSession` with `caching(with:)`", URLSession(configuration: configuration)) {
      configuration.endCaching()
    }
  }

  static func cachedSession() throws -> ComparedClient {
    let session = CachedURLSession(cache: try cache())
    return ComparedClient(
      name: "`CachedURLSession`", load: { try await session.data(for: $0) },
      download: { try await read(session.download(for: $0)) },
      end: { session.invalidateAndCancel() })
  }

  private static func cache() throws -> HTTPCache {
    try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 4 << 20))
  }

  private static func session(
    _ name: String, _ session: URLSession, then: @escaping @Sendable () -> Void
  ) -> ComparedClient {
    ComparedClient(
      name: name, load: { try await session.data(for: $0) },
      download: { try await read(session.download(for: $0)) },
      end: {
        session.invalidateAndCancel()
        then()
      })
  }

  private static func read(_ downloaded: (URL, URLResponse)) throws -> Answer {
    defer { try? FileManager.default.removeItem(at: downloaded.0) }
    return (try Data(contentsOf: downloaded.0), downloaded.1)
  }
}
