#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import Synchronization

  /// Reads a body in one task, at most 256 KiB and one piece ahead of its reader, so that the network goes on while
  /// the reader stores a block. The task can be stopped while a piece is awaited, which the reader's own task cannot
  /// without being cancelled.
  final class BodyPump: Sendable {
    private static let mostReady = 256 << 10

    private struct State {
      var ready = CircularBuffer<ByteBuffer>()
      var readyBytes = 0
      var end: Result<Void, any Error>?
      var reader: CheckedContinuation<Void, Never>?
      var pump: CheckedContinuation<Void, Never>?
      var task: Task<Void, Never>?
    }

    private enum Step {
      case take(ByteBuffer)
      case end(Result<Void, any Error>)
      case wait
    }

    private let body: HTTPClientResponse.Body
    private let state = Mutex(State())

    init(_ body: HTTPClientResponse.Body) { self.body = body }

    /// Whether the next piece has arrived.
    var isReady: Bool { state.withLock { !$0.ready.isEmpty } }

    /// The next piece, not empty; nil at the end. Cancelling the caller's task stops the pump.
    ///
    /// - Throws: what the body throws; `CancellationError` after `stop`.
    func next() async throws -> ByteBuffer? {
      while true {
        let (step, pump) = state.withLock { state -> (Step, CheckedContinuation<Void, Never>?) in
          if let buffer = state.ready.popFirst() {
            state.readyBytes -= buffer.readableBytes
            return (.take(buffer), state.readyBytes < Self.mostReady ? state.pump.take() : nil)
          }
          if let end = state.end { return (.end(end), nil) }
          if state.task == nil { state.task = Task { await self.run() } }
          return (.wait, nil)
        }
        pump?.resume()
        switch step {
        case .take(let buffer): return buffer
        case .end(let result):
          try result.get()
          return nil
        case .wait: await wait()
        }
      }
    }

    /// Ends the body and drops what was not read.
    func stop() { finish(.failure(CancellationError()), dropsReady: true) }

    private func wait() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let mustWait = state.withLock { state in
            guard state.ready.isEmpty, state.end == nil else { return false }
            state.reader = continuation
            return true
          }
          if !mustWait { continuation.resume() }
        }
      } onCancel: {
        stop()
      }
    }

    private func run() async {
      do {
        for try await buffer in body {
          if let mark = BrokenBodyMark(buffer) { throw mark.error }
          guard buffer.readableBytes > 0 else { continue }
          guard await put(buffer) else { return }
        }
        finish(.success(()))
      } catch {
        finish(.failure(error))
      }
    }

    /// Hands over a piece once the reader has taken enough of those before.
    ///
    /// - Returns: whether the body goes on.
    private func put(_ buffer: ByteBuffer) async -> Bool {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          guard state.readyBytes >= Self.mostReady, state.end == nil else { return false }
          state.pump = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
      let (reader, goesOn) = state.withLock { state in
        if state.end == nil {
          state.ready.append(buffer)
          state.readyBytes += buffer.readableBytes
        }
        return (state.reader.take(), state.end == nil)
      }
      reader?.resume()
      return goesOn
    }

    private func finish(_ end: Result<Void, any Error>, dropsReady: Bool = false) {
      let (reader, pump, task) = state.withLock { state in
        if state.end == nil || dropsReady { state.end = end }
        if dropsReady { (state.ready, state.readyBytes) = (CircularBuffer(), 0) }
        return (state.reader.take(), state.pump.take(), state.task)
      }
      reader?.resume()
      pump?.resume()
      if dropsReady { task?.cancel() }
    }
  }
#endif
