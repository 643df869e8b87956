import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Sends one response to a client.
struct ResponseWriter: Sendable {
  /// Bodies from this size on go from the file to the socket without passing through the process.
  static let fileThreshold: Int64 = 64 << 10
  /// How much is given to the system at once: more for clients that take it quickly, since each slice has
  /// to be waited for; less for slow ones, since each has its own time.
  private static let fileSlices: ClosedRange<Int64> = 128 << 10...1 << 20

  let stream: ByteStream
  let method: HTTPRequest.Method
  /// The minor version the client speaks.
  let minorVersion: Int
  /// Whether files may be sent as they are, which TLS does not allow.
  let sendsFiles: Bool
  let timeout: TimeAmount

  /// How a response went.
  struct Result: Sendable {
    /// The bytes of the body that were sent.
    var bytes: Int64 = 0
    /// Whether the connection can be used for another request.
    var isReusable: Bool
  }

  private enum Coding {
    case none
    case length(Int64)
    case chunked
    case untilClose
  }

  /// Sends an interim response (RFC 9110 §15.2).
  ///
  /// - Throws: `StreamError`.
  func sendInterim(_ head: HTTPResponse) async throws(StreamError) {
    guard minorVersion >= 1 else { return }
    var buffer = stream.channel.allocator.buffer(capacity: 256)
    buffer.writeStatusLine(head.status)
    buffer.writeFields(head.headerFields)
    buffer.writeStaticString("\r\n")
    stream.write(buffer)
    try await stream.flush(until: .now() + timeout)
  }

  /// Sends a final response.
  ///
  /// - Parameter persists: whether the connection is to stay open.
  /// - Throws: what the body throws, or `StreamError`. The connection is to be cut off then.
  func send(_ head: HTTPResponse, _ body: MessageBody, persists: Bool) async throws -> Result {
    let coding = coding(head, body)
    var isReusable = persists
    if case .untilClose = coding {
      isReusable = false
      // The end of the connection is the end of the body: were the process killed now, it must be none.
      stream.resetsOnClose(true)
    }
    var buffer = stream.channel.allocator.buffer(capacity: 1024)
    writeHead(head, coding, isReusable: isReusable, to: &buffer)
    var result = Result(isReusable: isReusable)
    if case .none = coding {
      body.source.cancel()
      stream.write(buffer)
      try await stream.flush(until: .now() + timeout)
      return result
    }
    if case .length(let length) = coding, let stored = body.source.stored, stored.range.count == length {
      if try await sendFile(stored, after: buffer) {
        body.source.cancel()
        result.bytes = length
        return result
      }
    }
    result.bytes = try await pump(body, coding, after: buffer)
    if case .untilClose = coding {
      try await stream.writeOut(until: .now() + timeout)
      stream.resetsOnClose(false)
    }
    return result
  }

  private func coding(_ head: HTTPResponse, _ body: MessageBody) -> Coding {
    let status = head.status.code
    if method == .head || status < 200 || status == 204 || status == 304 { return .none }
    if let length = body.length { return .length(length) }
    if let length = try? Framing.contentLength(head.headerFields) { return .length(length) }
    return minorVersion >= 1 ? .chunked : .untilClose
  }

  private func writeHead(
    _ head: HTTPResponse, _ coding: Coding, isReusable: Bool, to buffer: inout ByteBuffer
  ) {
    var fields = head.headerFields
    HopByHop.remove(from: &fields)
    switch coding {
    case .none: if head.status.code == 204 { fields[.contentLength] = nil }
    case .length, .chunked, .untilClose: fields[.contentLength] = nil
    }
    buffer.writeStatusLine(head.status)
    buffer.writeFields(fields)
    switch coding {
    case .length(let length): buffer.writeField("Content-Length", String(length))
    case .chunked: buffer.writeField("Transfer-Encoding", "chunked")
    case .none, .untilClose: break
    }
    if !isReusable { buffer.writeField("Connection", "close") }
    buffer.writeStaticString("\r\n")
  }

  private func pump(_ body: MessageBody, _ coding: Coding, after head: ByteBuffer) async throws -> Int64 {
    var isChunked = false
    if case .chunked = coding { isChunked = true }
    var limit: Int64?
    if case .length(let length) = coding { limit = length }
    stream.write(head)
    // What is in memory follows its head at once; what has to be waited for must not hold it up.
    if body.source.stored == nil, limit != 0 { try await stream.flush(until: .now() + timeout) }
    var sent: Int64 = 0
    while let bytes = try await body.source.next() {
      if let limit, sent + Int64(bytes.count) > limit {
        throw UpstreamError(.protocol, "the body is longer than its head says")
      }
      sent += Int64(bytes.count)
      var buffer = stream.channel.allocator.buffer(capacity: bytes.count + 32)
      if isChunked { buffer.writeChunkSize(bytes.count) }
      buffer.writeBody(bytes)
      if isChunked { buffer.writeStaticString("\r\n") }
      stream.write(buffer)
      try await stream.flush(until: .now() + timeout)
    }
    if let limit, sent < limit { throw UpstreamError(.protocol, "the body is shorter than its head says") }
    if isChunked {
      var buffer = stream.channel.allocator.buffer(capacity: 64)
      buffer.writeLastChunk(body.trailers)
      stream.write(buffer)
    }
    try await stream.flush(until: .now() + timeout)
    return sent
  }

  /// Sends a stored body from its file.
  ///
  /// - Returns: false if it has to be read instead; then nothing was sent.
  private func sendFile(_ stored: StoredBodyRange, after head: ByteBuffer) async throws -> Bool {
    guard sendsFiles, stored.range.count >= Self.fileThreshold, let region = stored.reader.fileRegion,
      stored.range.upperBound <= region.count, stored.reader.isVerified(stored.range)
    else { return false }
    // A descriptor of its own stays valid whatever becomes of the reader.
    let descriptor = fcntl(region.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    defer { try? handle.close() }
    let reader = stored.reader
    stream.write(head)
    var start = region.offset + stored.range.lowerBound
    let end = region.offset + stored.range.upperBound
    var slice = Self.fileSlices.lowerBound
    while start < end {
      let next = min(end, start + slice)
      let begin = NIODeadline.now()
      try await stream.sendFile(
        NIOCore.FileRegion(fileHandle: handle, readerIndex: Int(start), endIndex: Int(next)),
        until: .now() + timeout, while: { reader.isVerified(stored.range) })
      start = next
      slice =
        NIODeadline.now() - begin < .milliseconds(250)
        ? min(slice * 2, Self.fileSlices.upperBound) : Self.fileSlices.lowerBound
    }
    // What was written into the file meanwhile may have gone out: the client must not take more from here.
    guard reader.isVerified(stored.range) else { throw StreamError.closed }
    return true
  }
}
