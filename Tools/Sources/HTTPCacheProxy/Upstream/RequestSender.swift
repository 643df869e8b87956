import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization

/// Sends a request's head, and its body while the attempt waits for the response.
final class RequestSender: Sendable {
  private enum Phase {
    /// Waits for `100 Continue`.
    case waiting
    case sending
    case finished
    case failed(any Error)
    case stopped
  }

  private struct State {
    var phase: Phase
    var task: Task<Void, Never>?
    var timer: Scheduled<Void>?
    /// When the last byte of the request was sent, or sending failed.
    var end: NIODeadline?
  }

  /// A client that sends this many bytes at a time is not slow.
  private static let unit = 64 << 10

  private let request: UpstreamRequest
  private let stream: ByteStream
  private let isHTTP2: Bool
  private let pace: ClientPace
  private let proxy: NIOUpstream.Proxy?
  private let continueTimeout: TimeAmount
  private let headTimeout: TimeAmount
  /// Maximum time for the origin to take the next bytes; nil is for ever.
  private let silence: TimeAmount?
  private let state: Mutex<State>

  /// - Parameter lease: the connection; a stream of HTTP/2 only for a request without a body.
  init(_ request: UpstreamRequest, on lease: ConnectionLease, configuration: NIOUpstream.Configuration) {
    pace = lease.pace
    self.request = request
    stream = lease.stream
    isHTTP2 = lease.http2 != nil
    proxy = configuration.proxy
    continueTimeout = configuration.continueTimeout
    headTimeout = request.timeout.map { TimeAmount($0) } ?? configuration.headTimeout
    silence = configuration.silence(of: request)
    state = Mutex(State(phase: request.body == nil ? .finished : .waiting))
  }

  /// Whether the whole request is sent.
  var isFinished: Bool { state.withLock { if case .finished = $0.phase { true } else { false } } }

  /// The latest time for the response's head: the timeout begins when the request's body is sent.
  ///
  /// - Parameter deadline: the deadline of a request without a body.
  func headDeadline(_ deadline: NIODeadline) -> NIODeadline {
    guard request.body != nil else { return deadline }
    return max(deadline, (state.withLock { $0.end } ?? stream.now) + headTimeout)
  }

  /// Why the body could not be sent.
  var failure: (any Error)? {
    state.withLock { if case .failed(let error) = $0.phase { error } else { nil } }
  }

  /// Sends the head, and begins to send the body unless the request waits for `100 Continue`.
  ///
  /// - Throws: `StreamError`.
  func sendHead(upgrade: String?) async throws(StreamError) {
    let head = request.head
    if isHTTP2 {
      let frame = HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders(head), endStream: true))
      stream.channel.write(frame, promise: nil)
      return try await stream.flush(until: .now() + headTimeout)
    }
    let acceptsTrailers = FieldList.contains("trailers", in: head.headerFields, .te)
    let fields = FieldHygiene.forwardable(head.headerFields)
    var buffer = stream.channel.allocator.buffer(capacity: 1024)
    let path = head.path ?? "/"
    // A proxy gets the absolute form (RFC 9112 §3.2.2).
    buffer.writeRequestLine(
      head.method,
      proxy == nil
        ? path : "\(head.scheme ?? "http")://\(head.authority ?? "")\(path)")
    buffer.writeField("Host", head.hostToSend)
    if let authorization = proxy?.authorization {
      buffer.writeField("Proxy-Authorization", authorization)
    }
    buffer.writeFields(fields) { name in
      switch name.canonicalName.utf8.count {
      case 4: name != .hostField
      case 6: request.body != nil || name != .expect
      case 14: name != .contentLength
      default: true
      }
    }
    if let upgrade {
      buffer.writeField("Connection", acceptsTrailers ? "Upgrade, TE" : "Upgrade")
      buffer.writeField("Upgrade", upgrade)
    } else if acceptsTrailers {
      buffer.writeField("Connection", "TE")
    }
    if acceptsTrailers { buffer.writeField("TE", "trailers") }
    if let body = request.body {
      if let length = body.length {
        buffer.writeField("Content-Length", String(length))
      } else {
        buffer.writeField("Transfer-Encoding", "chunked")
      }
    } else if [.post, .put, .patch].contains(head.method) {
      buffer.writeField("Content-Length", "0")
    }
    buffer.writeStaticString("\r\n")
    stream.write(buffer)
    if try !stream.flush() { try await stream.flush(until: .now() + headTimeout) }
    guard request.body != nil else { return }
    if FieldList.contains("100-continue", in: fields, .expect) {
      let timer = stream.channel.eventLoop.scheduleTask(in: continueTimeout) { self.goOn() }
      state.withLock { $0.timer = timer }
    } else {
      goOn()
    }
  }

  /// Begins to send the body.
  func goOn() {
    guard let body = request.body else { return }
    let timer = state.withLock { state -> (begins: Bool, timer: Scheduled<Void>?) in
      guard case .waiting = state.phase else { return (false, nil) }
      state.phase = .sending
      return (true, state.timer.take())
    }
    timer.timer?.cancel()
    guard timer.begins else { return }
    let task = Task(executorPreference: EventLoopExecutor(stream.channel.eventLoop)) {
      do {
        try await self.send(body)
        self.state.withLock { if case .sending = $0.phase { $0.phase = .finished } }
      } catch {
        // The origin may have answered and stopped reading: then its response decides.
        if !(error is StreamError) { self.fail(error) }
      }
      self.pace.goesOn()
      self.state.withLock { $0.end = self.stream.now }
    }
    state.withLock { $0.task = task }
  }

  private func send(_ body: MessageBody) async throws {
    let isChunked = body.length == nil
    var sent: Int64 = 0
    var unit = 0
    pace.waits()
    while let bytes = try await body.source.next() {
      sent += Int64(bytes.count)
      if let length = body.length, sent > length {
        throw UpstreamError(.cancelled, "the request's body is longer than announced")
      }
      var buffer = stream.channel.allocator.buffer(capacity: bytes.count + 32)
      if isChunked { buffer.writeChunkSize(bytes.count) }
      buffer.writeBody(bytes)
      if isChunked { buffer.writeStaticString("\r\n") }
      stream.write(buffer)
      unit += bytes.count
      if unit >= Self.unit || !stream.channel.isWritable {
        unit = 0
        pace.goesOn()
      }
      try await stream.flush(until: stream.now.after(silence))
      pace.waits()
    }
    if let length = body.length, sent < length {
      throw UpstreamError(.cancelled, "the request's body is shorter than announced")
    }
    guard isChunked else { return }
    var buffer = stream.channel.allocator.buffer(capacity: 64)
    buffer.writeLastChunk(body.trailers)
    stream.write(buffer)
    try await stream.flush(until: .now().after(silence))
  }

  private func fail(_ error: any Error) {
    let isFirst = state.withLock { state in
      guard case .sending = state.phase else { return false }
      state.phase = .failed(UpstreamError(.cancelled, "the request's body broke off: \(error)", cause: error))
      return true
    }
    // An incomplete request must not look complete.
    if isFirst { stream.close() }
  }

  /// Stops if the origin answered without `100 Continue`, and so does not want the body.
  func stopIfWaiting() {
    if state.withLock({ if case .waiting = $0.phase { true } else { false } }) { stop() }
  }

  /// Stops sending.
  func stop() {
    let stopped = state.withLock {
      state -> (task: Task<Void, Never>?, timer: Scheduled<Void>?, source: Bool) in
      switch state.phase {
      case .waiting, .sending:
        state.phase = .stopped
        return (state.task.take(), state.timer.take(), true)
      case .finished, .failed, .stopped: return (nil, state.timer.take(), false)
      }
    }
    stopped.timer?.cancel()
    stopped.task?.cancel()
    if stopped.source { request.body?.source.cancel() }
  }
}

extension HTTPRequest {
  /// The host that the origin is asked for: a `Host` of the program that asks, such as `get -H`, else that of the target.
  fileprivate var hostToSend: String { headerFields.hosts.first ?? authority ?? "" }
}

extension HPACKHeaders {
  /// The head of a request without a body (RFC 9113 §8.3.1).
  init(_ head: HTTPRequest) {
    let acceptsTrailers = FieldList.contains("trailers", in: head.headerFields, .te)
    var fields = FieldHygiene.forwardable(head.headerFields)
    fields.remove(.hostField)
    fields.remove(.contentLength)
    self.init([
      (":method", head.method.rawValue), (":scheme", head.scheme ?? "https"),
      (":authority", head.hostToSend), (":path", head.path ?? "/"),
    ])
    reserveCapacity(fields.count + 5)
    for field in fields {
      // The compression of a connection, which many clients share, must not make credentials guessable by the length of
      // what is sent (RFC 7541 §7.1.3).
      add(
        name: field.name.canonicalName, value: field.value,
        indexing: FieldHygiene.isCredential(field.name) ? .neverIndexed : .indexable)
    }
    if acceptsTrailers { add(name: "te", value: "trailers") }
  }
}
