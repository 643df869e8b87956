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
      /// Set while the reader waits for a piece or the end.
      var reader: OneShot<Void>?
      /// Given whether `piece` was taken.
      var writer: OneShot<Bool>?
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
      let writer = OneShot<Bool>()
      let reader = try state.withLock { state throws(CancellationError) -> OneShot<Void>? in
        guard state.ending == nil, !Task.isCancelled else { throw CancellationError() }
        state.piece = buffer
        state.writer = writer
        return state.reader.take()
      }
      reader?.give(())
      let isTaken = await withTaskCancellationHandler {
        await writer.take()
      } onCancel: {
        writer.give(false)
      }
      if !isTaken { throw CancellationError() }
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
      writer?.give(false)
      reader?.give(())
    }

    // MARK: Reading

    /// The next piece; nil at the end.
    func next() async throws -> ByteBuffer? {
      while true {
        let reader = OneShot<Void>()
        let (piece, writer, ending) = state.withLock { state in
          if state.piece == nil, state.ending == nil { state.reader = reader }
          return (state.piece.take(), state.writer.take(), state.ending)
        }
        writer?.give(true)
        if let piece { return piece }
        switch ending {
        case .finished: return nil
        case .failed(let error): throw error
        case nil: break
        }
        await withTaskCancellationHandler {
          await reader.take()
        } onCancel: {
          reader.give(())
        }
        try Task.checkCancellation()
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
