#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheNIO
  import HTTPCaching
  import NIOCore
  import Synchronization

  /// The body of a response of AsyncHTTPClient, pulled, so that the network waits for its reader.
  final class AsyncHTTPClientBody: BodySource {
    private final class Puller: @unchecked Sendable {
      // @unchecked Sendable because only one pull runs at a time and `state` guards its begin and end.
      private var iterator: HTTPClientResponse.Body.AsyncIterator?

      init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

      func next() async throws -> ByteBuffer? {
        while let buffer = try await iterator?.next() {
          if buffer.readableBytes > 0 { return buffer }
        }
        return nil
      }

      func drop() { iterator = nil }
    }

    private struct State {
      var isEnded = false
      var isCancelled = false
      var hasTimedOut = false
      var received: Int64 = 0
      var pull: Task<ByteBuffer?, any Error>?
    }

    let length: Int64?
    private let puller: Puller
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
      puller = Puller(body)
      self.length = length
      self.idleTimeout = idleTimeout
      self.eventLoop = eventLoop
    }

    var trailers: HTTPFields { [:] }

    func next() async throws -> BodyBytes? {
      let pull = try state.withLock { state throws(CancellationError) -> Task<ByteBuffer?, any Error>? in
        if state.isCancelled { throw CancellationError() }
        if state.isEnded { return nil }
        let pull = Task { [puller] in try await puller.next() }
        state.pull = pull
        return pull
      }
      guard let pull else { return nil }
      let alarm = idleTimeout.map { limit in
        eventLoop.scheduleTask(in: limit) { [weak self] in
          self?.state.withLock { $0.hasTimedOut = true }
          pull.cancel()
        }
      }
      let result = await withTaskCancellationHandler {
        await pull.result
      } onCancel: {
        pull.cancel()
      }
      alarm?.cancel()
      return try received(result)
    }

    func cancel() {
      let pull = state.withLock { state -> Task<ByteBuffer?, any Error>? in
        state.isCancelled = true
        if state.pull == nil { puller.drop() }
        return state.pull
      }
      pull?.cancel()
    }

    /// Handles the result of a pull.
    private func received(_ result: Result<ByteBuffer?, any Error>) throws -> BodyBytes? {
      try state.withLock { state in
        state.pull = nil
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
    }

    private func ended(_ state: inout State, _ message: String) -> UpstreamError {
      state.isEnded = true
      puller.drop()
      return UpstreamError(.protocol, message)
    }

    private func timedOut(_ state: inout State) -> UpstreamError {
      state.isEnded = true
      let seconds = (idleTimeout?.nanoseconds ?? 0) / 1_000_000_000
      return UpstreamError(.timeout, "no bytes for \(seconds) s")
    }
  }
#endif
