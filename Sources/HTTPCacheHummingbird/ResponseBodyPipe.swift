#if Hummingbird
  import HTTPCaching
  import Hummingbird
  import NIOCore
  import Synchronization

  /// Passes on what a route writes, piece by piece: the route waits until each piece is taken.
  final class ResponseBodyPipe: Sendable {
    private enum Ending {
      case finished(HTTPFields)
      case failed(any Error)
    }

    private struct State {
      var piece: ByteBuffer?
      var reader: CheckedContinuation<ByteBuffer?, any Error>?
      var writer: CheckedContinuation<Void, any Error>?
      var ending: Ending?
    }

    private let state = Mutex(State())

    /// The trailer fields; empty before the end.
    var trailers: HTTPFields {
      state.withLock { state in
        if state.piece == nil, case .finished(let fields) = state.ending { fields } else { [:] }
      }
    }

    // MARK: Writing

    /// Passes a piece on; returns when the next one is wanted.
    ///
    /// - Throws: `CancellationError` when the reader has gone.
    func write(_ buffer: ByteBuffer) async throws {
      guard buffer.readableBytes > 0 else { return }
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (writer: CheckedContinuation<Void, any Error>) in
          let reader = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>?? in
            guard state.ending == nil, !Task.isCancelled else { return .none }
            if let reader = state.reader.take() { return reader }
            state.piece = buffer
            state.writer = writer
            return .some(nil)
          }
          switch reader {
          case .none: writer.resume(throwing: CancellationError())
          case .some(nil): break
          case .some(let reader?):
            reader.resume(returning: buffer)
            writer.resume()
          }
        }
      } onCancel: {
        state.withLock { $0.writer.take() }?.resume(throwing: CancellationError())
      }
    }

    /// The route has written everything.
    func finish(_ trailers: HTTPFields?) { end(.finished(trailers ?? [:])) }

    /// The route failed, or ended without finishing.
    func fail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: Ending) {
      let (reader, writer) = state.withLock { state in
        if state.ending == nil { state.ending = ending }
        return (state.reader.take(), state.writer.take())
      }
      writer?.resume(throwing: CancellationError())
      switch ending {
      case .finished: reader?.resume(returning: nil)
      case .failed(let error): reader?.resume(throwing: error)
      }
    }

    // MARK: Reading

    /// The next piece; nil at the end.
    func next() async throws -> ByteBuffer? {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { reader in
          var writer: CheckedContinuation<Void, any Error>?
          let result: Result<ByteBuffer?, any Error>? = state.withLock { state in
            if let piece = state.piece.take() {
              writer = state.writer.take()
              return .success(piece)
            }
            switch state.ending {
            case .finished: return .success(nil)
            case .failed(let error): return .failure(error)
            case nil: break
            }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.reader = reader
            return nil
          }
          writer?.resume()
          if let result { reader.resume(with: result) }
        }
      } onCancel: {
        state.withLock { $0.reader.take() }?.resume(throwing: CancellationError())
      }
    }
  }

  /// Writes the body of a route into a pipe.
  struct PipeWriter: ResponseBodyWriter {
    let pipe: ResponseBodyPipe

    mutating func write(_ buffer: ByteBuffer) async throws { try await pipe.write(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
      pipe.finish(trailingHeaders)
    }
  }
#endif
