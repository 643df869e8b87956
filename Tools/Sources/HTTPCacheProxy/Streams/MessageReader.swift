import NIOCore

/// Reads heads from a connection.
struct MessageReader: Sendable {
  let stream: ByteStream
  let limits: MessageLimits
  let form: MessageForm

  /// Reads the head of a request whose first bytes have arrived; nil if the connection ends before.
  ///
  /// - Parameters:
  ///   - time: maximum time for the rest.
  ///   - began: called at the first byte; if it returns false, reading ends.
  /// - Throws: `ProtocolViolation`, `StreamError`.
  func requestHead(within time: TimeAmount, began: () -> Bool) async throws -> RequestHead? {
    let deadline = stream.now + time
    guard let buffer = try await stream.read(until: deadline), began() else { return nil }
    return try await head(buffer, until: { deadline }) { bytes throws(ProtocolViolation) in
      try RequestHead(bytes, limits: limits)
    }
  }

  /// Reads the head of a response; nil if the connection ends before its first byte.
  ///
  /// - Parameter deadline: the latest time of the head; evaluated again at that time.
  /// - Throws: `ProtocolViolation`, `StreamError`.
  func responseHead(until deadline: () -> NIODeadline) async throws -> ResponseHead? {
    guard let buffer = try await read(until: deadline) else { return nil }
    return try await head(buffer, until: deadline) { bytes throws(ProtocolViolation) -> ResponseHead in
      if form == .lenient { return try ResponseHead(lenient: bytes, limits: limits) }
      return try ResponseHead(bytes, limits: limits)
    }
  }

  private func head<Head>(
    _ first: ByteBuffer, until deadline: () -> NIODeadline,
    _ parse: (UnsafeRawBufferPointer) throws(ProtocolViolation) -> Head
  ) async throws -> Head? {
    var buffer = first
    var decoder = HeadDecoder(limits: limits, form: form)
    while true {
      if let range = try buffer.withUnsafeReadableBytes({ try decoder.range(in: $0) }) {
        let head = try buffer.withUnsafeReadableBytes {
          try parse(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
        buffer.moveReaderIndex(forwardBy: range.upperBound)
        stream.unread(buffer)
        return head
      }
      guard var next = try await read(until: deadline) else {
        if buffer.withUnsafeReadableBytes({ decoder.mayEnd(after: $0) }) { return nil }
        throw ProtocolViolation("the connection ended within a head (RFC 9112 §8)")
      }
      buffer.writeBuffer(&next)
    }
  }

  private func read(until deadline: () -> NIODeadline) async throws(StreamError) -> ByteBuffer? {
    while true {
      let limit = deadline()
      do {
        return try await stream.read(until: limit)
      } catch StreamError.timedOut where deadline() > limit {
        // The time was extended meanwhile.
      }
    }
  }
}
