import NIOCore

/// Reads heads from a connection.
struct MessageReader: Sendable {
  let stream: ByteStream
  let limits: MessageLimits

  /// Reads the head of a request; nil if the connection ends before its first byte.
  ///
  /// - Parameters:
  ///   - idle: until when the first byte must have arrived.
  ///   - time: how long the rest may take.
  ///   - began: called at the first byte; false ends reading.
  /// - Throws: `ProtocolViolation`, `StreamError`.
  func requestHead(
    idle: NIODeadline, time: TimeAmount, began: () -> Bool
  ) async throws -> RequestHead? {
    guard var buffer = try await stream.read(until: idle), began() else { return nil }
    let deadline = NIODeadline.now() + time
    var emptyLines = 0
    // A line end or two before the request line is forgiven (RFC 9112 §2.2).
    while emptyLines < 4, buffer.readableBytes > 0, buffer.readableBytesView.first == 0x0D {
      if buffer.readableBytes == 1 { try await more(&buffer, until: deadline) }
      guard buffer.readableBytesView.dropFirst().first == 0x0A else { break }
      buffer.moveReaderIndex(forwardBy: 2)
      emptyLines += 1
      if buffer.readableBytes == 0 {
        guard let next = try await stream.read(until: deadline) else { return nil }
        buffer = next
      }
    }
    guard let first = buffer.readableBytesView.first, first > 0x20, first < 0x7F else {
      throw ProtocolViolation("not a request line (RFC 9112 §3)")
    }
    return try await head(&buffer, until: deadline) { bytes throws(ProtocolViolation) in
      try RequestHead(bytes, limits: limits)
    }
  }

  /// Reads the head of a response; nil if the connection ends before its first byte.
  ///
  /// - Throws: `ProtocolViolation`, `StreamError`.
  func responseHead(until deadline: NIODeadline) async throws -> ResponseHead? {
    guard var buffer = try await stream.read(until: deadline) else { return nil }
    // Anything else cannot become a status line, however much of it arrives.
    guard buffer.readableBytesView.first == 0x48 else {
      throw ProtocolViolation("not a status line (RFC 9112 §4)")
    }
    return try await head(&buffer, until: deadline) { bytes throws(ProtocolViolation) in
      try ResponseHead(bytes, limits: limits)
    }
  }

  private func head<Head>(
    _ buffer: inout ByteBuffer, until deadline: NIODeadline,
    _ parse: (UnsafeRawBufferPointer) throws(ProtocolViolation) -> Head
  ) async throws -> Head {
    var scanner = HeadScanner()
    while true {
      let end = try buffer.withUnsafeReadableBytes { try scanner.end(in: $0, limits: limits) }
      if let end {
        let head = try buffer.withUnsafeReadableBytes {
          try parse(UnsafeRawBufferPointer(rebasing: $0[..<end]))
        }
        buffer.moveReaderIndex(forwardBy: end)
        stream.unread(buffer)
        return head
      }
      try await more(&buffer, until: deadline)
    }
  }

  private func more(_ buffer: inout ByteBuffer, until deadline: NIODeadline) async throws {
    guard var next = try await stream.read(until: deadline) else {
      throw ProtocolViolation("the connection ended within a head (RFC 9112 §8)")
    }
    buffer.writeBuffer(&next)
  }
}
