import NIOCore

extension ByteBuffer {
  /// Takes the content out of the readable bytes that `decode` finds there, without copying it; nil if
  /// `decode` needs more bytes, or has all.
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

extension ChunkedDecoder {
  /// Takes the next bytes of content out of `buffer`; nil if it needs more, or at the end.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    try buffer.take { bytes, position throws(ProtocolViolation) in try next(bytes, &position) }
  }
}

extension BodyDecoder {
  /// Takes the next bytes of content; nil if it needs more, or at the end. What belongs to the next
  /// message stays in `buffer`.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    guard var content = try piece(&buffer) else { return nil }
    guard isChunked else { return content }
    // Many small chunks become one piece; one large piece is passed on as it is.
    while content.readableBytes < 16 << 10, var more = try piece(&buffer) {
      content.writeBuffer(&more)
    }
    return content
  }

  private mutating func piece(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    try buffer.take { bytes, position throws(ProtocolViolation) in try next(bytes, &position) }
  }
}
