import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// One request of a client and its answer.
struct ClientExchange: Sendable {
  private static let drainLimit: Int64 = 256 << 10

  let connection: ClientConnection
  let head: RequestHead
  let framing: Framing
  let started: NIODeadline
  /// The limits of the request's route.
  let silence: SilenceLimits

  private var context: ProxyContext { connection.context }
  private var stream: ByteStream { connection.stream }
  private var writer: ResponseWriter {
    connection.writer(head.method, minorVersion: head.minorVersion, timeout: clientSilence)
  }
  private var requestText: String { connection.client.requestText(of: head) }
  private var clientSilence: TimeAmount { silence.client ?? context.configuration.bodyTimeout }
  private var tunnelSilence: TimeAmount? {
    silence.tunnel.map(\.time) ?? context.configuration.tunnelTimeout
  }

  // MARK: Through the cache

  func answerFromCache(_ request: RoutedRequest) async -> ClientConnection.End {
    await answer(request) { body, onInterim in
      var options = RequestOptions(
        partition: request.partition, redirectLimit: 0, context: request.context, onInterim: onInterim)
      options.executor = EventLoopExecutor(stream.channel.eventLoop)
      let response = try await context.cache.respond(
        to: request.head, body: body, policy: request.bypassesCache ? .bypass : .standard, options: options,
        via: request.upstream(over: context.exchanges))
      var head = response.head
      request.finish(&head.headerFields)
      return (head, request.responseBody(response.body), response.outcome.label, response.outcome.refusal)
    }
  }

  /// Without the cache.
  func answerDirectly(_ request: RoutedRequest) async -> ClientConnection.End {
    await answer(request) { body, onInterim in
      let response = try await request.upstream(over: context.exchanges).send(
        UpstreamRequest(head: request.head, body: body, context: request.context, onInterim: onInterim))
      var head = response.head
      request.finish(&head.headerFields)
      return (head, request.responseBody(response.body), .pass, nil)
    }
  }

  private typealias Answer = (
    head: HTTPResponse, body: MessageBody, label: RequestOutcome, refusal: String?
  )

  private func answer(
    _ request: RoutedRequest,
    _ respond: (MessageBody?, @escaping @Sendable (HTTPResponse) async -> Void) async throws -> Answer
  ) async -> ClientConnection.End {
    let writer = writer
    let asked = ContinueGate(isNeeded: head.expectsContinue && framing != .none)
    let body = framing == .none ? nil : requestBody(writer, asked)
    closeIfAbandoned { [cache = context.cache] in
      cache.isAwaited(request.head, partition: request.partition)
    }
    defer { stream.answerBegins() }
    do {
      let answer = try await respond(body.map { request.requestBody(MessageBody($0)) }) { interim in
        if interim.status.code == 100, !asked.passes() { return }
        await sendInterim(interim, for: request, by: writer)
      }
      // No 100 Continue after the final response.
      _ = asked.passes()
      stream.answerBegins()
      return await send(answer, body)
    } catch {
      _ = asked.passes()
      return await failed(error, body)
    }
  }

  /// Cancels the request if its client is gone before the answer begins. A stream of HTTP/2 is closed at once then.
  ///
  /// - Parameter isNeeded: whether other requests wait for the same response.
  private func closeIfAbandoned(unless isNeeded: @escaping @Sendable () -> Bool) {
    guard !connection.isHTTP2, let patience = context.configuration.abandonedTimeout else { return }
    stream.closeIfAbandoned(after: patience, unless: isNeeded)
  }

  private func sendInterim(
    _ interim: HTTPResponse, for request: RoutedRequest, by writer: ResponseWriter
  ) async {
    var interim = interim
    request.finishInterim(&interim.headerFields)
    context.via.append(to: &interim.headerFields)
    try? await writer.sendInterim(interim)
  }

  private func requestBody(_ writer: ResponseWriter, _ asked: ContinueGate) -> IncomingBody {
    IncomingBody(
      stream, framing: framing, limits: context.configuration.limits, form: .request,
      connectionOptions: FieldHygiene.connectionOptions(head.fields),
      laterTrailers: connection.isHTTP2 ? connection.requestTrailers : nil,
      stall: clientSilence,
      beforePull: {
        // The client waits for 100 Continue, whether the cache or the origin reads the body.
        if asked.passes() { try await writer.sendInterim(HTTPResponse(status: .continue)) }
      }, ended: { _ in })
  }

  private func send(_ answer: Answer, _ body: IncomingBody?) async -> ClientConnection.End {
    var response = answer.head
    // RFC 9110 §6.6.1.
    if !response.headerFields.contains(.date) { response.headerFields[.date] = SystemClock().now.httpDate }
    context.via.append(to: &response.headerFields)
    // A client that waits for 100 Continue and gets a final response may send its body or not.
    let persists =
      head.isPersistent && !context.registry.isDraining && (body?.isComplete ?? true || !head.expectsContinue)
    do throws(ResponseWriter.BrokenOff) {
      let result = try await writer.send(response, answer.body, persists: persists)
      connection.log.add(
        head, status: response.status.code, bytes: result.bytes, started: started,
        outcome: answer.label.rawValue, reason: .notStored(answer.refusal))
      guard !connection.isHTTP2 else { return .close }
      guard result.isReusable else { return .close }
      if let body, !body.isComplete, await !drained(body) { return .close }
      return .next
    } catch {
      context.configuration.logger.info("\(requestText): the answer broke off: \(error.cause)")
      answer.body.source.cancel()
      body?.cancel()
      connection.log.add(
        head, status: response.status.code, bytes: error.bytes, started: started,
        outcome: answer.label.aborted, reason: .notStored(answer.refusal))
      // The client must see that the response is incomplete.
      stream.reset()
      return .gone
    }
  }

  /// Reads and drops the rest of the request's body, if the rest is short.
  private func drained(_ body: IncomingBody) async -> Bool {
    if let length = body.length, length > Self.drainLimit { return false }
    var taken: Int64 = 0
    while taken < Self.drainLimit {
      guard let bytes = try? await body.next() else { return body.isComplete }
      taken += Int64(bytes.count)
    }
    return false
  }

  private func failed(_ error: any Error, _ body: IncomingBody?) async -> ClientConnection.End {
    if let violation = body?.violation {
      await connection.refuse(Refusal(violation), to: head, started: started)
      return .close
    }
    switch error {
    case let error as UpstreamError where error.kind == .cancelled:
      return connection.leave(head, started: started)
    case let error as UpstreamError:
      context.configuration.logger.warning("\(requestText): \(error.message)")
      return await refused(Refusal(error), body)
    case let error as CacheError where error.code == .invalidRequest:
      return await refused(Refusal(.badRequest, "the request target is not an http or https URI"), body)
    case is CancellationError, is StreamError: return connection.leave(head, started: started)
    default:
      context.configuration.logger.error("\(requestText): \(error)")
      return await refused(Refusal(.internalServerError, "the proxy failed", label: .error), body)
    }
  }

  private func refused(_ refusal: Refusal, _ body: IncomingBody?) async -> ClientConnection.End {
    await connection.refuse(refusal, to: head, started: started)
    return body == nil && !refusal.closes && head.isPersistent && !context.registry.isDraining
      ? .next : .close
  }

  // MARK: Tunnels

  func upgrade(_ request: RoutedRequest, to protocols: String) async -> ClientConnection.End {
    let writer = writer
    // No other request waits for the answer to this one.
    closeIfAbandoned { false }
    defer { stream.answerBegins() }
    do {
      let (response, tunnel) = try await context.upstream.answer(
        UpstreamRequest(head: request.head, timeout: request.timeout, context: request.context) {
          await sendInterim($0, for: request, by: writer)
        },
        upgrade: protocols)
      stream.answerBegins()
      guard let tunnel else {
        var head = response.head
        request.finish(&head.headerFields)
        return await send((head, request.responseBody(response.body), .pass, nil), nil)
      }
      defer { context.upstream.pool.release(tunnel, isReusable: false) }
      var buffer = stream.channel.allocator.buffer(capacity: 512)
      var fields = response.head.headerFields
      let chosen = fields[.upgrade] ?? protocols
      request.finish(&fields)
      fields = FieldHygiene.forwardable(fields)
      fields[.contentLength] = nil
      // RFC 9110 §6.6.1.
      if !fields.contains(.date) { fields[.date] = SystemClock().now.httpDate }
      context.via.append(to: &fields)
      buffer.writeStatusLine(response.head.status)
      buffer.writeFields(fields)
      buffer.writeField("Connection", "Upgrade")
      buffer.writeField("Upgrade", chosen)
      buffer.writeStaticString("\r\n")
      stream.write(buffer)
      // The origin may wait for the client's first bytes.
      try await stream.flush(until: stream.now + clientSilence)
      let bytes = await Tunnel.run(
        client: stream, origin: tunnel.stream, silence: tunnelSilence)
      connection.log.add(
        head, status: 101, bytes: bytes, started: started, outcome: RequestOutcome.tunnel.rawValue)
      return .gone
    } catch {
      return await failed(error, nil)
    }
  }

  func tunnel(to origin: Origin) async -> ClientConnection.End {
    do {
      let tunnel = try await context.upstream.pool.connector.connect(to: origin)
      var buffer = stream.channel.allocator.buffer(capacity: 64)
      buffer.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n")
      stream.write(buffer)
      stream.channel.flush()
      let bytes = await Tunnel.run(
        client: stream, origin: tunnel, silence: tunnelSilence)
      connection.log.add(
        head, status: 200, bytes: bytes, started: started, outcome: RequestOutcome.tunnel.rawValue)
      return .gone
    } catch {
      return await failed(error, nil)
    }
  }

  // MARK: Answers of our own

  /// Answers TRACE and OPTIONS as their last recipient (RFC 9110 §7.6.2, §9.3.7, §9.3.8).
  func answerAsLast() async -> ClientConnection.End {
    var fields = HTTPFields()
    fields[.date] = SystemClock().now.httpDate
    var content = ByteBuffer()
    if head.method == .trace {
      fields[.contentType] = "message/http"
      content.writeRequestLine(head.method, head.target)
      var echoed = head.fields
      // Fields that may be secret are not sent back (RFC 9110 §9.3.8).
      echoed.removeAll { FieldHygiene.isCredential($0.name) }
      content.writeFields(echoed)
      content.writeStaticString("\r\n")
    } else {
      fields[.allow] = Routing.methods
    }
    let body = framing == .none ? nil : requestBody(writer, ContinueGate(isNeeded: false))
    let answer = HTTPResponse(status: .ok, headerFields: fields)
    return await send((answer, MessageBody(BodyBytes(content.readableBytesView)), .own, nil), body)
  }
}

/// Allows one `100 Continue`, and only for a client that waits for it.
final class ContinueGate: Sendable {
  private let isOpen: Atomic<Bool>

  init(isNeeded: Bool) { isOpen = Atomic(isNeeded) }

  /// Whether `100 Continue` may be sent now; true at most once.
  func passes() -> Bool { isOpen.exchange(false, ordering: .acquiringAndReleasing) }
}
