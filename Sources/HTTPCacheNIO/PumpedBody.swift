#if AsyncHTTPClient || Hummingbird
  package import HTTPCaching
  import NIOCore
  import Synchronization

  /// A body that a task of its own writes, pulled, so that the writer waits for the reader.
  package final class PumpedBody: BodySource {
    package let length: Int64?
    // An object of its own, because the writer's task keeps it: this object's end stops the task.
    private let pump: BufferPump
    private let received = Atomic<Int64>(0)

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - length: the required number of bytes; nil if unknown.
    ///   - mostReady: the number of bytes at which the writer waits for the reader.
    ///   - writing: writes the pieces, from the first pull on. If it returns, the body is complete.
    package init(length: Int64?, mostReady: Int, _ writing: @escaping BufferPump.Writing) {
      self.length = length
      pump = BufferPump(mostReady: mostReady, writing)
    }

    deinit { pump.stop() }

    package var trailers: HTTPFields { pump.trailers }

    package func next() async throws -> BodyBytes? {
      let piece = try await pump.next()
      let received = received.add(Int64(piece?.readableBytes ?? 0), ordering: .relaxed).newValue
      if let length, piece == nil ? received < length : received > length {
        pump.stop()
        throw UpstreamError(
          .protocol,
          piece == nil
            ? "the body ended after \(received) of \(length) bytes"
            : "the body is longer than the \(length) bytes announced")
      }
      return piece.map { BodyBytes($0) }
    }

    package func cancel() { pump.stop() }
  }
#endif
