#if URLSessionDoors
  import Foundation
  import HTTPCacheURLSession
  import HTTPCaching

  /// A `URLSession` whose configuration has the cache, as a program uses it.
  struct URLProtocolDoor: DriveDoor {
    private let cache: HTTPCache
    private let session: URLSession

    init(_ cache: HTTPCache) {
      self.cache = cache
      session = URLSession(
        configuration: .forDriving.caching(with: cache), delegate: RedirectRefusal(),
        delegateQueue: nil)
    }

    func reply(to drive: DriveRequest) async throws -> DriveReply {
      var request = try drive.urlRequest()
      request.cachePolicy = try drive.foundationsPolicy()
      return try await drive.reply { [request] in try await session.data(for: request) }
    }

    func close() async throws {
      session.finishTasksAndInvalidate()
      await cache.flush()
    }
  }
#endif
