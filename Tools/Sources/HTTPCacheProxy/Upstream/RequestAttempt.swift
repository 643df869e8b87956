import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import NIOCore
import NIOHTTP2
import NIOSSL

/// One attempt of a request to get its response on one connection to an origin.
struct RequestAttempt: Sendable {
  /// The cause of the error if the connection ends before the first byte of a response.
  struct ClosedBeforeResponse: Error {
    /// Whether the origin may have got the request.
    var isSent = true
  }

  /// Maximum number of interim responses.
  static let mostInterim = 64
  static let tooManyInterim = "more than \(mostInterim) interim responses"

  private let lease: ConnectionLease
  private let pool: ConnectionPool

  private var configuration: NIOUpstream.Configuration { pool.configuration }
  private var form: MessageForm { configuration.isLenient ? .lenient : .response }

  init(_ lease: ConnectionLease, pool: ConnectionPool) {
    self.lease = lease
    self.pool = pool
  }

  /// Sends the request and reads the head of the final response.
  ///
  /// - Parameter upgrade: the protocols to request, if any.
  /// - Throws: `UpstreamError`, after closing the connection.
  func run(
    _ request: UpstreamRequest, upgrade: String? = nil, until deadline: NIODeadline
  ) async throws(UpstreamError) -> UpstreamResponse {
    let sender = RequestSender(request, on: lease, configuration: configuration)
    do {
      // Bytes that arrive on an idle connection before the request is sent cannot answer it.
      if lease.isReused, lease.http2 == nil, lease.stream.hasBytes || lease.stream.isEnded {
        throw ClosedBeforeResponse(isSent: false)
      }
      do throws(StreamError) {
        try await sender.sendHead(upgrade: upgrade)
      } catch {
        // The origin may have answered and ended before the writer looked: what has arrived decides.
        guard error.isClosed else { throw error }
      }
      let head = try await finalHead(request, sender, upgrade: upgrade, until: deadline)
      if lease.heads != nil, try head.framing(for: request.head.method).length == 0 {
        guard try await lease.stream.readBehindContent() == nil else {
          throw ProtocolViolation("content in a response without content (RFC 9113 §8.1.1)")
        }
      }
      return try response(head, to: request, sender)
    } catch {
      sender.stop()
      // The origin may be gone without a sign; another stream would wait as long.
      if case StreamError.timedOut = error { lease.http2?.retire() }
      pool.release(lease, isReusable: false)
      throw upstreamError(sender.failure ?? error)
    }
  }

  private func finalHead(
    _ request: UpstreamRequest, _ sender: RequestSender, upgrade: String?, until deadline: NIODeadline
  ) async throws -> ResponseHead {
    var count = 0
    while true {
      let received: ResponseHead?
      do {
        received = try await nextHead(sender, until: deadline)
      } catch StreamError.failed(let cause) where count == 0 && Self.isLost(cause) {
        throw ClosedBeforeResponse()
      }
      guard let head = received else {
        throw count == 0
          ? ClosedBeforeResponse() : ProtocolViolation("no final response after an interim response")
      }
      if head.status.code >= 200 { return head }
      if head.status.code == 101 {
        guard let upgrade else {
          throw ProtocolViolation("101 without a requested upgrade (RFC 9110 §15.2.2)")
        }
        let requested = FieldList.members(FieldList.lowercased(upgrade))
        guard
          FieldList.members(FieldList.lowercased(head.fields[.upgrade] ?? upgrade)).allSatisfy(
            requested.contains)
        else { throw ProtocolViolation("101 to a protocol that was not requested (RFC 9110 §7.8)") }
        return head
      }
      count += 1
      guard count <= Self.mostInterim else { throw ProtocolViolation(Self.tooManyInterim) }
      _ = try head.framing(for: request.head.method)
      if head.status.code == 100 { sender.goOn() }
      var fields = head.fields
      fields = FieldHygiene.forwardable(fields)
      await request.onInterim?(HTTPResponse(status: head.status, headerFields: fields))
    }
  }

  private func nextHead(_ sender: RequestSender, until deadline: NIODeadline) async throws -> ResponseHead? {
    if let heads = lease.heads {
      guard let head = try await heads.next(on: lease.stream, until: deadline).get() else { return nil }
      return try ResponseHead(head, limits: configuration.limits)
    }
    let reader = MessageReader(stream: lease.stream, limits: configuration.limits, form: form)
    return try await reader.responseHead { sender.headDeadline(deadline) }
  }

  /// Whether the connection, or the stream of HTTP/2, has ended without saying anything about the request.
  private static func isLost(_ cause: any Error) -> Bool {
    // The response was malformed, or the origin found the request so.
    if let closed = cause as? NIOHTTP2Errors.StreamClosed, closed.errorCode == .protocolError { return false }
    return cause is IOError || cause is UnfinishedStream || cause is any NIOHTTP2Error
  }

  private func response(
    _ head: ResponseHead, to request: UpstreamRequest, _ sender: RequestSender
  ) throws(ProtocolViolation) -> UpstreamResponse {
    let framing = try head.framing(for: request.head.method)
    var fields = head.fields
    try Framing.simplifyLength(in: &fields)
    if head.status.code == 101 {
      sender.stop()
      return UpstreamResponse(head: HTTPResponse(status: head.status, headerFields: fields), body: .empty)
    }
    fields = fields.forwardable(of: head.status)
    let response = HTTPResponse(status: head.status, headerFields: fields)
    let isPersistent = head.isPersistent && framing != .untilClose
    // A final response without a 100 means that the origin does not want the body (RFC 9110 §10.1.1).
    sender.stopIfWaiting()
    if framing == .none || lease.heads != nil && framing.length == 0 {
      finish(sender, isReusable: isPersistent)
      return UpstreamResponse(head: response, body: .empty)
    }
    // Most small responses have arrived as a whole.
    if lease.heads == nil, let length = framing.length, let bytes = lease.stream.take(length) {
      finish(sender, isReusable: isPersistent)
      return UpstreamResponse(head: response, body: MessageBody(BodyBytes(bytes)))
    }
    let body = IncomingBody(
      lease.stream, framing: framing, limits: configuration.limits, form: form,
      connectionOptions: FieldHygiene.connectionOptions(head.fields), laterTrailers: lease.heads?.trailers,
      stall: configuration.silence(of: request, response: fields), pace: lease.pace
    ) { isComplete in finish(sender, isReusable: isComplete && isPersistent) }
    return UpstreamResponse(head: response, body: MessageBody(body))
  }

  private func finish(_ sender: RequestSender, isReusable: Bool) {
    let isSent = sender.isFinished
    sender.stop()
    pool.release(lease, isReusable: isReusable && isSent)
  }

  private func upstreamError(_ error: any Error) -> UpstreamError {
    let origin = lease.origin
    switch error {
    case let error as UpstreamError: return error
    case StreamError.failed(let violation as ProtocolViolation): return upstreamError(violation)
    case let error as ProtocolViolation:
      return UpstreamError(.protocol, "\(origin) sent \(error.description)", cause: error)
    case StreamError.timedOut:
      return UpstreamError(.timeout, "\(origin) gave no answer in time", cause: error)
    case StreamError.cancelled, is CancellationError:
      return UpstreamError(.cancelled, "cancelled", cause: error)
    case StreamError.closed, is ClosedBeforeResponse:
      return UpstreamError(
        .unreachable, "\(origin) closed the connection without an answer",
        cause: error as? ClosedBeforeResponse ?? ClosedBeforeResponse())
    case StreamError.failed(let cause):
      let isTLS = cause is NIOSSLError || cause is NIOSSLExtraError || cause is BoringSSLError
      return isTLS
        ? UpstreamError(.tls, "TLS with \(origin) failed: \(HandshakeFailure.text(cause))", cause: cause)
        : UpstreamError(.protocol, "\(origin): \(cause)", cause: cause)
    default: return UpstreamError(.protocol, "\(origin): \(error)", cause: error)
    }
  }
}
