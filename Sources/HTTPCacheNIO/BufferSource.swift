#if AsyncHTTPClient || Hummingbird
  package import HTTPCaching
  package import NIOCore
  import Synchronization

  /// A sequence of NIO's buffers as the source of a body. The sequence is not read before the first pull.
  package final class BufferSource<Buffers: AsyncSequence & Sendable>: BodySource
  where Buffers.Element == ByteBuffer {
    private final class Iterator: @unchecked Sendable {
      // @unchecked Sendable because only one task pulls at a time (`BodySource`).
      private let buffers: Buffers
      private var iterator: Buffers.AsyncIterator?

      init(_ buffers: Buffers) { self.buffers = buffers }

      func next() async throws -> ByteBuffer? {
        var iterator = iterator ?? buffers.makeAsyncIterator()
        let buffer = try await iterator.next()
        self.iterator = iterator
        return buffer
      }
    }

    private let iterator: Iterator
    private let isEnded = Mutex(false)
    package let length: Int64?

    /// Makes a source.
    ///
    /// - Parameter length: the expected number of bytes, if known.
    package init(_ buffers: Buffers, length: Int64?) {
      iterator = Iterator(buffers)
      self.length = length
    }

    package var trailers: HTTPFields { [:] }

    package func next() async throws -> BodyBytes? {
      while !isEnded.withLock({ $0 }) {
        guard let buffer = try await iterator.next() else {
          isEnded.withLock { $0 = true }
          break
        }
        if buffer.readableBytes > 0 { return BodyBytes(buffer) }
      }
      return nil
    }

    package func cancel() { isEnded.withLock { $0 = true } }
  }
#endif
