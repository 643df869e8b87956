import HTTPCaching
import HTTPTypes
package import NIOCore
import NIOHTTP1

/// Makes responses of HTTP/1.1 as strict parsers want them, on a connection of a client: folded lines become one
/// (RFC 9112 §5.2), lines may end in LF alone (§2.2), white space around chunk extensions and sizes goes (§7.1.1),
/// control characters within values are spaces (RFC 9110 §5.5), `Content-Length` stands once, `Location` has escapes for
/// octets outside of ASCII, HTTP/1.1 stands for a later minor version. A user agent takes these forms; the proxy
/// itself, between clients and origins, refuses those that two readers may read in two ways.
///
/// A response that it refuses ends the request with the reason. Stands before the codec; `RequestWatcher` behind the codec
/// tells each request. A response may end before the body of its request has been sent (RFC 9112 §9.3), and the next
/// request begins after both.
package final class LenientResponseHandler: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  /// Tells the method of each request.
  private final class RequestWatcher: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let responses: LenientResponseHandler

    init(_ responses: LenientResponseHandler) { self.responses = responses }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .head(let head) = unwrapOutboundIn(data) { responses.requestBegins(head.method.rawValue) }
      context.write(data, promise: promise)
    }
  }

  private enum State {
    case idle
    case head
    case body(BodyDecoder, isChunked: Bool)
    /// The connection is of no use.
    case failed
  }

  /// The limits of responses. The codec takes no more fields, those of trailers included.
  package static let limits = MessageLimits(headBytes: 256 << 10, fieldCount: 256)

  private var state = State.idle
  private var method = HTTPRequest.Method.get
  private var interimCount = 0
  private var arrived = ByteBuffer()
  private var headDecoder = LenientResponseHandler.makeHeadDecoder()

  private init() {}

  private static func makeHeadDecoder() -> HeadDecoder { HeadDecoder(limits: limits, form: .lenient) }

  /// Adds handlers around the codec of a connection over HTTP/1.1; call it on the channel's event loop.
  ///
  /// - Throws: `ChannelPipelineError` if the pipeline has no `HTTPRequestEncoder`.
  package static func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
    let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
    let responses = LenientResponseHandler()
    try pipeline.addHandler(responses, position: .before(encoder))
    try pipeline.addHandler(RequestWatcher(responses), position: .after(encoder))
  }

  private func requestBegins(_ name: String) {
    guard case .idle = state else { return }
    method = HTTPRequest.Method(name) ?? .get
    interimCount = 0
    state = .head
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    arrived.writeBuffer(&bytes)
    do throws(ProtocolViolation) {
      while try step(context) {}
    } catch {
      state = .failed
      let message = "the response is not valid HTTP: \(error.description)"
      context.fireErrorCaught(UpstreamError(.protocol, message, cause: error))
      context.close(promise: nil)
    }
    if arrived.readableBytes == 0 { arrived = ByteBuffer() }
  }

  /// - Returns: whether to go on with what has arrived.
  private func step(_ context: ChannelHandlerContext) throws(ProtocolViolation) -> Bool {
    switch state {
    case .failed:
      arrived = ByteBuffer()
      return false
    case .idle:
      pass(context)
      return false
    case .head:
      guard let head = try headDecoder.next(&arrived) else { return false }
      headDecoder = Self.makeHeadDecoder()
      try begin(Array(buffer: head), context)
      return true
    case .body(var decoder, let isChunked):
      let content = try decoder.next(&arrived)
      if let content { send(content, isChunked: isChunked, context) }
      state = .body(decoder, isChunked: isChunked)
      guard decoder.isComplete else { return content != nil }
      if isChunked {
        var end = context.channel.allocator.buffer(capacity: 64)
        end.writeLastChunk(decoder.trailers)
        context.fireChannelRead(wrapInboundOut(end))
      }
      state = .idle
      return arrived.readableBytes > 0
    }
  }

  private func begin(_ bytes: [UInt8], _ context: ChannelHandlerContext) throws(ProtocolViolation) {
    let head = try bytes.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try ResponseHead(lenient: UnsafeRawBufferPointer(bytes), limits: Self.limits)
    }
    let framing = try head.framing(for: method)
    var fields = head.fields
    if let length = try Framing.contentLength(fields) { fields[.contentLength] = String(length) }
    // It means that there is no coding (RFC 2616 §3.6); only HTTP of before 2014 names it.
    if framing == .untilClose, Framing.transferCodings(fields) == ["identity"] {
      fields[.transferEncoding] = nil
    }
    if head.status.code < 200, head.status.code != 101 {
      interimCount += 1
      guard interimCount <= RequestAttempt.mostInterim else {
        throw ProtocolViolation(RequestAttempt.tooManyInterim)
      }
      // The connection goes on to the final response.
      fields[.connection] = nil
    }
    var buffer = context.channel.allocator.buffer(capacity: bytes.count + 64)
    // The codec refuses a later minor version than 1, which means no other framing (RFC 9110 §2.5).
    buffer.writeStatusLine(head.status, minorVersion: head.minorVersion)
    buffer.writeFields(fields)
    buffer.writeStaticString("\r\n")
    context.fireChannelRead(wrapInboundOut(buffer))
    if head.status.code < 200, head.status.code != 101 { return }
    state =
      head.status.code == 101 || framing == .none
      ? .idle
      : .body(BodyDecoder(framing, limits: Self.limits, form: .lenient), isChunked: framing == .chunked)
  }

  private func send(_ content: ByteBuffer, isChunked: Bool, _ context: ChannelHandlerContext) {
    guard isChunked else { return context.fireChannelRead(wrapInboundOut(content)) }
    var content = content
    var chunk = context.channel.allocator.buffer(capacity: content.readableBytes + 32)
    chunk.writeChunkSize(content.readableBytes)
    chunk.writeBuffer(&content)
    chunk.writeStaticString("\r\n")
    context.fireChannelRead(wrapInboundOut(chunk))
  }

  /// Passes on all that has arrived, as it is.
  private func pass(_ context: ChannelHandlerContext) {
    guard arrived.readableBytes > 0 else { return }
    let bytes = arrived
    arrived = ByteBuffer()
    context.fireChannelRead(wrapInboundOut(bytes))
  }

  package func channelInactive(context: ChannelHandlerContext) {
    // The begin of a head: the codec tells that the response is not whole.
    if case .head = state { pass(context) }
    context.fireChannelInactive()
  }
}
