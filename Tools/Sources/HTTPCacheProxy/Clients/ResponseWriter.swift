import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import NIOCore
import NIOHPACK

/// Sends one response to a client.
struct ResponseWriter: Sendable {
  let stream: ByteStream
  let method: HTTPRequest.Method
  let form: Form
  /// Whether files may be sent as they are, which TLS does not allow.
  let sendsFiles: Bool
  let timeout: TimeAmount

  /// The version of HTTP of the client.
  enum Form: Sendable {
    case http1(minorVersion: Int)
    case http2
  }

  /// The result of sending a response.
  struct Result: Sendable {
    /// The bytes of the body that were sent.
    var bytes: Int64 = 0
    /// Whether the connection can be used for another request.
    var isReusable: Bool
  }

  /// A response that broke off on its way.
  struct BrokenOff: Error {
    /// The bytes of the body that were sent.
    let bytes: Int64
    /// Why it broke off.
    let cause: any Error
  }

  /// Maximum number of bytes to copy for the channel at once. A connection of HTTP/2 has a hundred streams.
  private var slice: Int { isHTTP2 ? ByteStream.slice / 4 : ByteStream.slice }
  private var isHTTP2: Bool { if case .http2 = form { true } else { false } }
  private var hasPieces: Bool { if case .http1(minorVersion: 0) = form { false } else { true } }

  /// Sends an interim response (RFC 9110 §15.2).
  ///
  /// - Throws: `StreamError`.
  func sendInterim(_ head: HTTPResponse) async throws(StreamError) {
    guard hasPieces else { return }
    if isHTTP2 {
      stream.write(.head(HPACKHeaders(head.status, head.headerFields), endsStream: false))
    } else {
      var buffer = stream.channel.allocator.buffer(capacity: 256)
      buffer.writeStatusLine(head.status)
      buffer.writeFields(head.headerFields)
      buffer.writeStaticString("\r\n")
      stream.write(buffer)
    }
    try await stream.flush(until: stream.now + timeout)
  }

  /// Sends a final response.
  ///
  /// - Parameter persists: whether the connection is to stay open.
  /// - Throws: `BrokenOff`. Then reset the connection.
  func send(
    _ head: HTTPResponse, _ body: MessageBody, persists: Bool
  ) async throws(BrokenOff) -> Result {
    var result = Result(isReusable: persists)
    do {
      try await send(head, body, into: &result)
      return result
    } catch {
      throw BrokenOff(bytes: result.bytes, cause: error)
    }
  }

  private func send(
    _ head: HTTPResponse, _ body: MessageBody, into result: inout Result
  ) async throws {
    let coding = coding(head, body)
    if case .length(let length) = coding, let bytes = body.source.bytesInMemory, bytes.count == length,
      bytes.count <= slice
    {
      return try await send(head, bytes, of: body, into: &result)
    }
    var isReusable = result.isReusable
    if case .untilClose = coding {
      isReusable = false
      // The end of the connection ends the body. If the process is killed now, the client must see a reset instead.
      stream.resetsOnClose(true)
    }
    writeHead(head, coding, isReusable: isReusable)
    result.isReusable = isReusable
    if case .none = coding {
      body.source.cancel()
      return try await flushEnd()
    }
    if case .length(let length) = coding, let stored = body.source.stored, stored.range.count == length,
      stored.reader.bytesInMemory == nil
    {
      return try await send(stored, from: body, counting: &result.bytes)
    }
    try await pump(body, coding, counting: &result.bytes)
    if case .untilClose = coding {
      try await stream.writeOut(until: stream.now + timeout)
      stream.resetsOnClose(false)
    }
  }

  /// Sends head and body at once. They leave in one piece.
  private func send(
    _ head: HTTPResponse, _ bytes: BodyBytes, of body: MessageBody, into result: inout Result
  ) async throws {
    let (headers, buffer) = Self.whole(
      head, to: method, body: bytes, form: form, isReusable: result.isReusable,
      allocator: stream.channel.allocator)
    if let headers { stream.write(.head(headers, endsStream: false)) }
    if buffer.readableBytes > 0 { stream.write(buffer) }
    body.source.cancel()
    let goesOn = try isHTTP2 ? stream.flushSoon() : stream.flush()
    if !goesOn { try await stream.flush(until: stream.now + timeout) }
    result.bytes = Int64(bytes.count)
    guard isHTTP2 else { return }
    writeEnd(.length(result.bytes), body.trailers)
    try await flushEnd()
  }

  /// Head and body of a response, as `send` sends them. With HTTP/2 the head is apart.
  ///
  /// - Parameter isReusable: whether the connection stays open.
  static func whole(
    _ head: HTTPResponse, to method: HTTPRequest.Method, body: BodyBytes, form: Form,
    isReusable: Bool = true, allocator: ByteBufferAllocator
  ) -> (HPACKHeaders?, ByteBuffer) {
    var buffer = allocator.buffer(capacity: 1024 + body.count)
    let coding =
      method != .head && hasContent(head.status.code) ? ResponseCoding.length(Int64(body.count)) : .none
    var headers: HPACKHeaders?
    switch form {
    case .http1: coding.writeHead(head, isReusable: isReusable, to: &buffer)
    case .http2: headers = coding.headers(of: head)
    }
    buffer.writeBody(body)
    return (headers, buffer)
  }

  /// Whether a response to a GET has content, if only 0 bytes of it (RFC 9110 §6.4.1).
  static func hasContent(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

  private func coding(_ head: HTTPResponse, _ body: MessageBody) -> ResponseCoding {
    if method == .head || !Self.hasContent(head.status.code) { return .none }
    if let length = body.length { return .length(length) }
    if let length = try? Framing.contentLength(head.headerFields) { return .length(length) }
    return hasPieces ? .pieces : .untilClose
  }

  private func writeHead(_ head: HTTPResponse, _ coding: ResponseCoding, isReusable: Bool) {
    guard isHTTP2 else {
      var buffer = stream.channel.allocator.buffer(capacity: 1024)
      coding.writeHead(head, isReusable: isReusable, to: &buffer)
      return stream.write(buffer)
    }
    var isWhole = false
    if case .none = coding { isWhole = true }
    stream.write(.head(coding.headers(of: head), endsStream: isWhole))
  }

  /// Ends a response that has content.
  private func writeEnd(_ coding: ResponseCoding, _ trailers: HTTPFields) {
    if isHTTP2 {
      stream.write(.end(trailers: HPACKHeaders(FieldHygiene.forwardable(trailers: trailers))))
    } else if case .pieces = coding {
      var buffer = stream.channel.allocator.buffer(capacity: 64)
      buffer.writeLastChunk(trailers)
      stream.write(buffer)
    }
  }

  private func flushEnd() async throws(StreamError) {
    // A stream of HTTP/2 is closed when both sides have ended: it cannot be waited for.
    if isHTTP2 { return stream.channel.flush() }
    if try !stream.flush() { try await stream.flush(until: stream.now + timeout) }
  }

  /// - Parameter sent: counts the bytes that were sent.
  private func pump(_ body: MessageBody, _ coding: ResponseCoding, counting sent: inout Int64) async throws {
    var isChunked = false
    if case .pieces = coding { isChunked = !isHTTP2 }
    let limit: Int64? = if case .length(let length) = coding { length } else { nil }
    // Send bytes that are there together with the head; do not let the head wait for others.
    if body.source.stored == nil, limit != 0, try !stream.flushSoon() {
      try await stream.flush(until: stream.now + timeout)
    }
    while let bytes = try await next(of: body, hasAll: sent == limit) {
      if let limit, sent + Int64(bytes.count) > limit {
        throw UpstreamError(.protocol, "the body is longer than its head says")
      }
      try await send(bytes, inChunks: isChunked, counting: &sent)
    }
    if let limit, sent < limit { throw UpstreamError(.protocol, "the body is shorter than its head says") }
    writeEnd(coding, body.trailers)
    try await flushEnd()
  }

  /// The next bytes of a body. After the last one, its client may end the connection, which cancels the body's end.
  private func next(of body: MessageBody, hasAll: Bool) async throws -> BodyBytes? {
    do {
      return try await body.source.next()
    } catch {
      guard hasAll, error is CancellationError || stream.isEnded else { throw error }
      return nil
    }
  }

  /// Sends bytes a slice at a time, so that few bytes are copied for a client that does not read.
  ///
  /// - Parameter sent: counts the bytes that were sent.
  private func send(
    _ bytes: BodyBytes, inChunks isChunked: Bool, counting sent: inout Int64
  ) async throws(StreamError) {
    for start in stride(from: 0, to: bytes.count, by: slice) {
      let slice = bytes[start..<start + slice]
      var buffer = stream.channel.allocator.buffer(capacity: slice.count + (isChunked ? 32 : 0))
      if isChunked { buffer.writeChunkSize(slice.count) }
      buffer.writeBody(slice)
      if isChunked { buffer.writeStaticString("\r\n") }
      stream.write(buffer)
      if try !stream.flushSoon() { try await stream.flush(until: stream.now + timeout) }
      sent += Int64(slice.count)
    }
  }

  /// Sends a stored body that is not in memory, from its file if possible.
  ///
  /// - Parameter sent: counts the bytes that were sent.
  private func send(
    _ stored: StoredBodyRange, from body: MessageBody, counting sent: inout Int64
  ) async throws {
    let file = sendsFiles ? FileSender(stored, stream: stream, timeout: timeout) : nil
    if let file, stored.reader.isVerified(stored.range) {
      defer { sent = file.sentBytes }
      try await file.send(stored.range)
      return body.source.cancel()
    }
    var position = stored.range.lowerBound
    while true {
      var piece = try await next(of: body, hasAll: position == stored.range.upperBound)
      guard let count = piece?.count else { break }
      let range = position..<position + Int64(count)
      guard range.upperBound <= stored.range.upperBound else {
        throw UpstreamError(.protocol, "the body is longer than its head says")
      }
      if count > ByteStream.slice, stored.reader.isVerified(range) {
        // This read has checked the bytes. Read them again a slice at a time, so that they do not stay in memory for a
        // client that does not read.
        piece = nil
        try await sendChecked(range, of: stored.reader, file, counting: &sent)
      } else if let piece {
        try await send(piece, inChunks: false, counting: &sent)
      }
      position = range.upperBound
    }
    guard position == stored.range.upperBound else {
      throw UpstreamError(.protocol, "the body is shorter than its head says")
    }
    writeEnd(.length(Int64(stored.range.count)), [:])
    try await flushEnd()
  }

  private func sendChecked(
    _ range: Range<Int64>, of reader: any BodyReader, _ file: FileSender?, counting sent: inout Int64
  ) async throws {
    if let file {
      defer { sent += file.sentBytes }
      return try await file.send(range)
    }
    var start = range.lowerBound
    while start < range.upperBound {
      let bytes = try await reader.read(start..<min(range.upperBound, start + Int64(ByteStream.slice)))
      guard !bytes.isEmpty else { throw CacheError(.damaged, "the body ended at byte \(start)") }
      try await send(bytes, inChunks: false, counting: &sent)
      start += Int64(bytes.count)
    }
  }
}
