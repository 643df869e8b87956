#if Hummingbird
  import HTTPCaching
  import Hummingbird
  import NIOCore

  /// Writes the body of a route into a pipe.
  struct PipeWriter: ResponseBodyWriter {
    let pipe: ResponseBodyPipe

    mutating func write(_ buffer: ByteBuffer) async throws { try await pipe.write(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
      pipe.finish(trailingHeaders)
    }
  }
#endif
