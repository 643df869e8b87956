#if Hummingbird
  import HTTPCaching
  import Hummingbird
  import NIOCore

  /// The writer that a route gets whose body goes into a pipe.
  struct PipeWriter: ResponseBodyWriter {
    let pipe: ResponseBodyPipe

    mutating func write(_ buffer: ByteBuffer) async throws { try await pipe.write(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
      pipe.finish(trailingHeaders)
    }
  }
#endif
