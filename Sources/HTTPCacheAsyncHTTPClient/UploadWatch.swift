#if AsyncHTTPClient
  import AsyncHTTPClient
  import Logging
  import NIOCore
  import Synchronization

  /// The time that an origin has left to take the next piece of a request's content, or to answer. The time in which the
  /// content's source has to give the next piece does not count.
  final class UploadWatch: Sendable {
    private let limit: TimeAmount
    private let eventLoop: any EventLoop
    /// Since when the origin has to act; nil while the source of the content has to.
    private let waitsSince: Mutex<NIODeadline?>

    /// Makes a watch; the time of the origin begins now.
    init(limit: TimeAmount, on eventLoop: any EventLoop) {
      self.limit = limit
      self.eventLoop = eventLoop
      waitsSince = Mutex(eventLoop.now)
    }

    /// The time left; the whole limit while the source of the content has to act.
    var timeLeft: TimeAmount {
      let now = eventLoop.now
      return waitsSince.withLock { $0 }.map { $0 + limit - now } ?? limit
    }

    /// The origin has taken all pieces so far, and the source of the content has to give the next one.
    func awaitsSource() { waitsSince.withLock { $0 = nil } }

    /// The origin has to take a piece, or to answer.
    func awaitsOrigin() {
      let now = eventLoop.now
      waitsSince.withLock { $0 = now }
    }
  }

  /// The content of a request, which tells a watch whether the origin or the content's source has to act.
  struct WatchedContent<Buffers: AsyncSequence & Sendable>: AsyncSequence, Sendable
  where Buffers.Element == ByteBuffer {
    let buffers: Buffers
    let watch: UploadWatch

    struct AsyncIterator: AsyncIteratorProtocol {
      var iterator: Buffers.AsyncIterator
      let watch: UploadWatch

      mutating func next() async throws -> ByteBuffer? {
        watch.awaitsSource()
        defer { watch.awaitsOrigin() }
        return try await iterator.next()
      }
    }

    func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(iterator: buffers.makeAsyncIterator(), watch: watch)
    }
  }

  extension HTTPClient {
    /// Executes a request, until a deadline or, if there is a watch, as long as the watch allows.
    ///
    /// - Throws: as `execute(_:deadline:logger:)`; `HTTPClientError.deadlineExceeded` at the limit of the watch, too.
    func execute(
      _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?, watchedBy watch: UploadWatch?
    ) async throws -> HTTPClientResponse {
      guard let watch else { return try await execute(request, deadline: deadline, logger: logger) }
      return try await eventLoopGroup.any().limited(timeLeft: { watch.timeLeft }) {
        try await self.execute(request, deadline: .now() + .hours(24 * 365), logger: logger)
      }
    }
  }
#endif
