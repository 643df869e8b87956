#if URLSessionDoors
  import ArgumentParser
  import AsyncHTTPClient
  import Foundation
  import HTTPCacheAsyncHTTPClient
  import HTTPCacheURLSession
  import HTTPCaching

  /// `CachedURLSession`, as a program uses it.
  struct URLSessionDoor: DriveDoor {
    private let cache: HTTPCache
    private let session: CachedURLSession
    /// Sends the requests; nil if Foundation does.
    private let client: HTTPClient?

    init(_ cache: HTTPCache, transport: DriveTransport = .foundation) {
      self.cache = cache
      switch transport {
      case .foundation:
        client = nil
        session = CachedURLSession(
          cache: cache, configuration: .forDriving, delegate: RedirectRefusal())
      case .asynchttpclient:
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.client = client
        session = CachedURLSession(
          cache: cache, via: AsyncHTTPClientUpstream(client: client), configuration: .forDriving,
          delegate: RedirectRefusal())
      }
    }

    func reply(to drive: DriveRequest) async throws -> DriveReply {
      let policy = try drive.policy()
      let request = try drive.urlRequest()
      return try await drive.reply {
        try await session.data(for: request, cachePolicy: policy)
      }
    }

    func close() async throws {
      session.finishTasksAndInvalidate()
      await cache.finishBackgroundWork(within: .seconds(5))
      await cache.flush()
      try await client?.shutdown()
    }
  }

  /// The transport that sends the requests of the door `urlsession` to the origin.
  enum DriveTransport: String, ExpressibleByArgument, CaseIterable {
    case foundation
    case asynchttpclient
  }

  /// Makes a session return redirects instead of following them.
  final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
      newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
  }
#endif
