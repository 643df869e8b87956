#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheNIO
  import HTTPCaching
  import NIOCore
  import Synchronization

  /// The body of a response of AsyncHTTPClient, pulled, so that the network waits for its reader.
  final class AsyncHTTPClientBody: BodySource {
    private struct State {
      var isEnded = false
      var isCancelled = false
      var hasTimedOut = false
      var received: Int64 = 0
      /// Since when `next` waits; nil while it does not.
      var waitsSince: NIODeadline?
      /// The timer for a wait that takes too long; nil before the first wait.
      var watch: Scheduled<Void>?
    }

    let length: Int64?
    private let pump: BodyPump
    private let idleTimeout: TimeAmount?
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - length: the required number of bytes; nil if unknown.
    ///   - idleTimeout: the longest time that one `next` may wait.
    init(
      _ body: HTTPClientResponse.Body, length: Int64?, idleTimeout: TimeAmount?,
      eventLoop: any EventLoop
    ) {
      pump = BodyPump(body)
      self.length = length
      self.idleTimeout = idleTimeout
      self.eventLoop = eventLoop
    }

    deinit {
      state.withLock { $0.watch }?.cancel()
      pump.stop()
    }

    var trailers: HTTPFields { [:] }

    func next() async throws -> BodyBytes? {
      let isEnded = try state.withLock { state throws(CancellationError) in
        if state.isCancelled { throw CancellationError() }
        return state.isEnded
      }
      if isEnded { return nil }
      if !pump.isReady { beginWait() }
      let result: Result<ByteBuffer?, any Error>
      do { result = .success(try await pump.next()) } catch { result = .failure(error) }
      return try received(result)
    }

    func cancel() {
      state.withLock { $0.isCancelled = true }
      pump.stop()
    }

    /// Notes that `next` waits. One timer watches all waits of a body: a timer for each would wake the thread of the
    /// event loop twice for each piece.
    private func beginWait() {
      guard let idleTimeout else { return }
      let isWatched = state.withLock { state in
        state.waitsSince = eventLoop.now
        return state.watch != nil
      }
      if !isWatched { watch(after: idleTimeout, idleTimeout) }
    }

    private func watch(after time: TimeAmount, _ limit: TimeAmount) {
      let watch: Scheduled<Void> = eventLoop.scheduleTask(in: time) { [weak self] in self?.lookAtWait(limit) }
      state.withLock { $0.watch = watch }
    }

    /// Stops the body if `next` has waited for the limit; otherwise looks again when that may be, until the body ends.
    private func lookAtWait(_ limit: TimeAmount) {
      let rest = state.withLock { state -> TimeAmount? in
        if state.isEnded || state.isCancelled { return nil }
        let rest = state.waitsSince.map { $0 + limit - eventLoop.now } ?? limit
        if rest <= .zero { state.hasTimedOut = true }
        return rest
      }
      guard let rest else { return }
      if rest > .zero { watch(after: rest, limit) } else { pump.stop() }
    }

    /// Handles the result of a pull.
    private func received(_ result: Result<ByteBuffer?, any Error>) throws -> BodyBytes? {
      do { return try state.withLock { try bytes(of: result, &$0) } } catch {
        pump.stop()
        throw error
      }
    }

    private func bytes(of result: Result<ByteBuffer?, any Error>, _ state: inout State) throws -> BodyBytes? {
      state.waitsSince = nil
      let wasStopped = state.isCancelled || Task.isCancelled
      switch result {
      case .success(let buffer?):
        state.received += Int64(buffer.readableBytes)
        if let length, state.received > length {
          throw ended(&state, "the body is longer than the \(length) bytes announced")
        }
        return BodyBytes(buffer)
      case .success(nil):
        let received = state.received
        if state.hasTimedOut { throw timedOut(&state) }
        if wasStopped { throw CancellationError() }
        if let length, received < length {
          throw ended(&state, "the body ended after \(received) of \(length) bytes")
        }
        state.isEnded = true
        return nil
      case .failure(let error):
        if state.hasTimedOut { throw timedOut(&state) }
        state.isEnded = true
        if wasStopped { throw CancellationError() }
        throw UpstreamError(asyncHTTPClient: error)
      }
    }

    private func ended(_ state: inout State, _ message: String) -> UpstreamError {
      state.isEnded = true
      return UpstreamError(.protocol, message)
    }

    private func timedOut(_ state: inout State) -> UpstreamError {
      state.isEnded = true
      let seconds = (idleTimeout?.nanoseconds ?? 0) / 1_000_000_000
      return UpstreamError(.timeout, "no bytes for \(seconds) s")
    }
  }
#endif
