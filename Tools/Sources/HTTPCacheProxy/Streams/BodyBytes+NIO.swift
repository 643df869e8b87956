package import HTTPCacheStore
package import NIOCore

extension BodyBytes {
  /// The readable bytes of a buffer: shared if they fill most of its memory, otherwise copied, so
  /// that a small body in a store does not keep a large buffer alive. A slice has the memory of the buffer
  /// that it was taken from.
  package init(_ buffer: ByteBuffer) {
    if buffer.readableBytes * 2 < buffer.storageCapacity {
      self = buffer.withUnsafeReadableBytes { BodyBytes($0) }
    } else {
      // ByteBuffer never writes to shared storage.
      self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
        BodyBytes(unsafeBytes: bytes, keepingAlive: storage.takeUnretainedValue())
      }
    }
  }
}

extension ByteBuffer {
  /// Appends the bytes of a body.
  mutating func writeBody(_ bytes: BodyBytes) {
    bytes.withUnsafeBytes { _ = writeBytes($0) }
  }
}
