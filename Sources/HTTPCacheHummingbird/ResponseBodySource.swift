#if Hummingbird
  import HTTPCacheNIO
  import HTTPCaching
  import Hummingbird
  import Synchronization

  /// The body of a route's response, pulled. The route begins to write at the first pull.
  final class ResponseBodySource: BodySource {
    private struct State {
      var body: ResponseBody?
      var writing: Task<Void, Never>?
      var received: Int64 = 0
      var isCancelled = false
    }

    let length: Int64?
    private let pipe = ResponseBodyPipe()
    private let state: Mutex<State>

    /// Makes a source.
    ///
    /// - Parameter length: the number of bytes that the route announced, if any.
    init(_ body: ResponseBody, length: Int64?) {
      self.length = length
      state = Mutex(State(body: body))
    }

    deinit { cancel() }

    var trailers: HTTPFields { pipe.trailers }

    func next() async throws -> BodyBytes? {
      try start()
      let piece: ByteBuffer?
      do {
        piece = try await pipe.next()
      } catch let error as CancellationError {
        throw error
      } catch {
        throw UpstreamError(.protocol, "the route failed while it wrote the body", cause: error)
      }
      let received = state.withLock { state in
        state.received += Int64(piece?.readableBytes ?? 0)
        return state.received
      }
      if let length, piece == nil ? received < length : received > length {
        cancel()
        throw UpstreamError(
          .protocol, "the route announced \(length) bytes and wrote \(received)")
      }
      return piece.map { BodyBytes($0) }
    }

    func cancel() {
      // The body is released outside of the lock: what the route's closure holds may end then.
      let (writing, _) = state.withLock { state in
        state.isCancelled = true
        return (state.writing, state.body.take())
      }
      writing?.cancel()
      pipe.fail(CancellationError())
    }

    private func start() throws {
      try state.withLock { state in
        if state.isCancelled { throw CancellationError() }
        guard let body = state.body.take() else { return }
        state.writing = Task { [pipe] in
          do {
            try await body.write(PipeWriter(pipe: pipe))
            pipe.fail(UpstreamError(.protocol, "the route did not finish its body"))
          } catch {
            pipe.fail(error)
          }
        }
      }
    }
  }
#endif
