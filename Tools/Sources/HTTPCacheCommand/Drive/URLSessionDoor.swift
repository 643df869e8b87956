#if URLSessionDoors
  import Foundation
  import HTTPCacheURLSession
  import HTTPCaching

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// `CachedURLSession`, as a program uses it.
  struct URLSessionDoor: DriveDoor {
    private let cache: HTTPCache
    private let session: CachedURLSession

    init(_ cache: HTTPCache) {
      self.cache = cache
      session = CachedURLSession(
        cache: cache, configuration: .forDriving, delegate: RedirectRefusal())
    }

    func reply(to drive: DriveRequest) async throws -> DriveReply {
      let policy = try drive.policy()
      let request = try drive.foundations()
      return try await drive.reply {
        try await session.data(for: request, cachePolicy: policy)
      }
    }

    func close() async throws {
      session.finishTasksAndInvalidate()
      await cache.flush()
    }
  }
#endif
