package import HTTPCacheStore
package import NIOCore

extension ByteBuffer {
  /// Removes the content that `decode` finds in the readable bytes and returns it without a copy; nil if `decode` needs
  /// more bytes, or is at the end.
  ///
  /// - Throws: `ProtocolViolation`, from `decode`.
  fileprivate mutating func take(
    _ decode: (UnsafeRawBufferPointer, inout Int) throws(ProtocolViolation) -> Range<Int>?
  ) throws(ProtocolViolation) -> ByteBuffer? {
    var position = 0
    let found = withUnsafeReadableBytes { bytes -> Result<Range<Int>?, ProtocolViolation> in
      do throws(ProtocolViolation) { return .success(try decode(bytes, &position)) } catch {
        return .failure(error)
      }
    }
    let content = try found.get().flatMap { getSlice(at: readerIndex + $0.lowerBound, length: $0.count) }
    moveReaderIndex(forwardBy: position)
    return content
  }
}

extension HeadDecoder {
  /// Removes a whole head from `buffer`, with the empty lines before it; nil until the head has arrived.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    try buffer.take { bytes, position throws(ProtocolViolation) in
      let head = try range(in: bytes)
      if let head { position = head.upperBound }
      return head
    }
  }
}

extension ChunkedDecoder {
  /// Removes the next bytes of content from `buffer`; nil if more bytes are needed, or at the end.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    try buffer.take { bytes, position throws(ProtocolViolation) in try next(bytes, &position) }
  }
}

extension BodyDecoder {
  /// Removes the next bytes of content; nil if more bytes are needed, or at the end. Bytes of the next message stay in
  /// `buffer`.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    guard var content = try piece(&buffer) else { return nil }
    guard isChunked else { return content }
    // Join many small chunks to one piece; return one large piece unchanged.
    while content.readableBytes < 16 << 10, var more = try piece(&buffer) {
      content.writeBuffer(&more)
    }
    return content
  }

  private mutating func piece(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    try buffer.take { bytes, position throws(ProtocolViolation) in try next(bytes, &position) }
  }
}

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
