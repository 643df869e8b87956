#if Hummingbird
  import HTTPCaching
  import Hummingbird
  import NIOCore
  import Synchronization

  /// Collects the body that a route writes.
  struct BodyCollector: ResponseBodyWriter {
    private final class Storage: Sendable {
      let buffer = Mutex(ByteBuffer())
    }

    private let storage = Storage()
    private let length: Int

    /// The body in one piece.
    ///
    /// - Parameter length: the announced number of bytes.
    /// - Throws: what the body throws; `UpstreamError` if it does not have the announced length.
    static func collect(_ body: ResponseBody, length: Int) async throws -> ByteBuffer {
      let collector = BodyCollector(length: length)
      try await body.write(collector)
      let buffer = collector.storage.buffer.withLock { $0 }
      guard buffer.readableBytes == length else { throw collector.mismatch(buffer.readableBytes) }
      return buffer
    }

    private init(length: Int) { self.length = length }

    mutating func write(_ buffer: ByteBuffer) async throws {
      let count = storage.buffer.withLock { all in
        if all.readableBytes == 0 { all = buffer } else { all.writeImmutableBuffer(buffer) }
        return all.readableBytes
      }
      if count > length { throw mismatch(count) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}

    private func mismatch(_ count: Int) -> UpstreamError {
      UpstreamError(.protocol, "the route announced \(length) bytes and wrote \(count)")
    }
  }
#endif
