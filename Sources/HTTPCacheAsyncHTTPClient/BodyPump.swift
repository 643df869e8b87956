#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCaching
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
      /// Set while the reader waits for a piece.
      var reader: OneShot<Void>?
      /// Set while the pump waits for the reader.
      var pump: OneShot<Void>?
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
        let (step, pump) = state.withLock { state -> (Step, OneShot<Void>?) in
          if let buffer = state.ready.popFirst() {
            state.readyBytes -= buffer.readableBytes
            return (.take(buffer), state.readyBytes < Self.mostReady ? state.pump.take() : nil)
          }
          if let end = state.end { return (.end(end), nil) }
          if state.task == nil { state.task = Task { await self.run() } }
          return (.wait, nil)
        }
        pump?.give(())
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
      let reader = state.withLock { state in
        if state.ready.isEmpty, state.end == nil { state.reader = OneShot() }
        return state.reader
      }
      await withTaskCancellationHandler {
        await reader?.take()
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
      let pump = state.withLock { state in
        if state.readyBytes >= Self.mostReady, state.end == nil { state.pump = OneShot() }
        return state.pump
      }
      await pump?.take()
      let (reader, goesOn) = state.withLock { state in
        if state.end == nil {
          state.ready.append(buffer)
          state.readyBytes += buffer.readableBytes
        }
        return (state.reader.take(), state.end == nil)
      }
      reader?.give(())
      return goesOn
    }

    private func finish(_ end: Result<Void, any Error>, dropsReady: Bool = false) {
      let (reader, pump, task) = state.withLock { state in
        if state.end == nil || dropsReady { state.end = end }
        if dropsReady { (state.ready, state.readyBytes) = (CircularBuffer(), 0) }
        return (state.reader.take(), state.pump.take(), state.task)
      }
      reader?.give(())
      pump?.give(())
      if dropsReady { task?.cancel() }
    }
  }
#endif
