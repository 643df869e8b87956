#if AsyncHTTPClient || Hummingbird
  package import HTTPCaching
  package import NIOCore
  import Synchronization

  /// Passes pieces from a task that writes them to a reader that pulls them. The writer begins with the first pull, and
  /// waits once enough bytes are ready.
  ///
  /// The writer has a task of its own, so that the reader can stop the writer in the middle of a wait without being
  /// cancelled itself.
  package final class BufferPump: Sendable {
    package typealias Writing = @Sendable (BufferPump) async throws -> Void

    private struct State {
      /// Nil once the writer has begun or was stopped.
      var writing: Writing?
      var task: Task<Void, Never>?
      var ready = CircularBuffer<ByteBuffer>()
      var readyBytes = 0
      var end: Result<HTTPFields, any Error>?
      /// Set while the reader waits for a piece or the end.
      var reader: OneShot<Void>?
      /// Set while the writer waits. Given whether the reader wants more.
      var writer: OneShot<Bool>?
    }

    private let mostReady: Int
    private let state: Mutex<State>

    /// Makes a pump.
    ///
    /// - Parameters:
    ///   - mostReady: the number of ready bytes at which the writer waits.
    ///   - writing: writes the pieces. If it returns, the body is complete.
    init(mostReady: Int, _ writing: @escaping Writing) {
      self.mostReady = mostReady
      state = Mutex(State(writing: writing))
    }

    /// The trailer fields; empty before the end.
    var trailers: HTTPFields {
      state.withLock { state in
        if state.ready.isEmpty, case .success(let fields) = state.end { fields } else { [:] }
      }
    }

    // MARK: Writing

    /// Passes a piece on; returns when the next one is wanted.
    ///
    /// - Throws: `CancellationError` when the reader has gone, the body has ended, or the caller's task is cancelled, which
    ///   may be another than the writer's.
    package func write(_ buffer: ByteBuffer) async throws(CancellationError) {
      guard buffer.readableBytes > 0 else { return }
      let (reader, writer) = try state.withLock { state throws(CancellationError) in
        guard state.end == nil, !Task.isCancelled else { throw CancellationError() }
        state.ready.append(buffer)
        state.readyBytes += buffer.readableBytes
        guard state.readyBytes >= mostReady else { return (state.reader.take(), OneShot<Bool>?.none) }
        let writer = OneShot<Bool>()
        state.writer = writer
        return (state.reader.take(), writer)
      }
      reader?.give(())
      guard let writer else { return }
      let isWanted = await withTaskCancellationHandler {
        await writer.take()
      } onCancel: {
        writer.give(false)
      }
      guard isWanted else { throw CancellationError() }
    }

    /// Ends the body before its writer returns.
    package func finish(_ trailers: HTTPFields) { end(.success(trailers)) }

    private func run(_ writing: Writing) async {
      do {
        try await writing(self)
        end(.success([:]))
      } catch {
        end(.failure(error))
      }
    }

    // MARK: Reading

    /// The next piece, not empty; nil at the end. Cancelling the caller's task stops the writer.
    ///
    /// - Throws: what the writer throws; `CancellationError` after `stop`.
    func next() async throws -> ByteBuffer? {
      while true {
        let (piece, writer, reader) = try state.withLock {
          state throws -> (ByteBuffer?, OneShot<Bool>?, OneShot<Void>?) in
          if let piece = state.ready.popFirst() {
            state.readyBytes -= piece.readableBytes
            return (piece, state.readyBytes < mostReady ? state.writer.take() : nil, nil)
          }
          if let end = state.end {
            _ = try end.get()
            return (nil, nil, nil)
          }
          if let writing = state.writing.take() { state.task = Task { await self.run(writing) } }
          let reader = OneShot<Void>()
          state.reader = reader
          return (nil, nil, reader)
        }
        writer?.give(true)
        guard let reader else { return piece }
        await withTaskCancellationHandler {
          await reader.take()
        } onCancel: {
          stop()
        }
      }
    }

    /// Stops the writer, and drops what was not read.
    func stop() { end(.failure(CancellationError()), dropsReady: true) }

    private func end(_ end: Result<HTTPFields, any Error>, dropsReady: Bool = false) {
      // The writer is released outside of the lock: what its closure holds may end then.
      let (reader, writer, task, _) = state.withLock { state in
        let isEarly = state.end == nil || dropsReady && !state.ready.isEmpty
        if isEarly { state.end = end }
        if dropsReady { (state.ready, state.readyBytes) = (CircularBuffer(), 0) }
        // A writer that has finished the body may have other work to end.
        return (
          state.reader.take(), state.writer.take(), dropsReady && isEarly ? state.task : nil,
          dropsReady ? state.writing.take() : nil
        )
      }
      task?.cancel()
      writer?.give(false)
      reader?.give(())
    }
  }
#endif
