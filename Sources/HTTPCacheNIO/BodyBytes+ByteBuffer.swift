#if AsyncHTTPClient || Hummingbird
  package import HTTPCaching
  package import NIOCore

  /// Keeps a buffer alive for the bytes that share its memory, and gives it back.
  private final class BufferOwner: Sendable {
    let buffer: ByteBuffer

    init(_ buffer: ByteBuffer) { self.buffer = buffer }
  }

  extension BodyBytes {
    /// The readable bytes of a buffer: shared if they fill most of its memory, otherwise copied, so that a
    /// small body in a store does not keep a large buffer alive.
    package init(_ buffer: ByteBuffer) {
      if buffer.readableBytes * 2 < buffer.storageCapacity {
        self = buffer.withUnsafeReadableBytes { BodyBytes($0) }
      } else {
        // The owner retains the buffer's storage, so any write to the buffer copies it first.
        let owner = BufferOwner(buffer)
        self = owner.buffer.withUnsafeReadableBytes {
          BodyBytes(unsafeBytes: $0, keepingAlive: owner)
        }
      }
    }
  }

  extension ByteBuffer {
    /// The bytes of a body: a slice of the buffer that they were made from, otherwise a copy.
    package init(_ bytes: BodyBytes) {
      self =
        bytes.withUnsafeBytes { part in
          (bytes.keptAlive as? BufferOwner)?.buffer.slice(part)
        } ?? bytes.withUnsafeBytes { ByteBuffer(bytes: $0) }
    }

    /// The slice at `part`; nil if that is not within the readable bytes.
    private func slice(_ part: UnsafeRawBufferPointer) -> ByteBuffer? {
      let offset = withUnsafeReadableBytes { whole -> Int? in
        guard let start = whole.baseAddress, let partStart = part.baseAddress else { return nil }
        return partStart - start
      }
      return offset.flatMap { getSlice(at: readerIndex + $0, length: part.count) }
    }
  }
#endif
