import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import NIOCore
import Synchronization

/// The content of a message, pulled from a connection.
final class IncomingBody: BodySource {
  private enum Phase {
    case ready(BodyDecoder)
    case pulling
    case complete(HTTPFields)
    case broken
  }

  private struct State {
    var phase: Phase
    var violation: ProtocolViolation?
  }

  private let stream: ByteStream
  private let epoch: Int
  private let stall: TimeAmount?
  private let pace: ClientPace?
  private let state: Mutex<State>
  private let form: MessageForm
  private let connectionOptions: Set<String>
  private let laterTrailers: StreamTrailers?
  private let beforePull: (@Sendable () async throws -> Void)?
  private let ended: @Sendable (_ isComplete: Bool) -> Void
  let length: Int64?

  /// - Parameters:
  ///   - form: the forms of the message that are taken.
  ///   - connectionOptions: the names that the head's `Connection` lists.
  ///   - laterTrailers: the trailers of a stream of HTTP/2, which do not come with the bytes; nil for HTTP/1.1.
  ///   - stall: maximum time to wait for the next bytes; nil is for ever.
  ///   - pace: notified when the caller requests bytes and when it gets them.
  ///   - beforePull: called before each pull.
  ///   - ended: called once at the end, with whether the last byte has arrived.
  init(
    _ stream: ByteStream, framing: Framing, limits: MessageLimits, form: MessageForm,
    connectionOptions: Set<String> = [], laterTrailers: StreamTrailers? = nil, stall: TimeAmount?,
    pace: ClientPace? = nil,
    beforePull: (@Sendable () async throws -> Void)? = nil,
    ended: @escaping @Sendable (_ isComplete: Bool) -> Void
  ) {
    self.stream = stream
    self.stall = stall
    self.form = form
    self.connectionOptions = connectionOptions
    self.laterTrailers = laterTrailers
    self.pace = pace
    self.beforePull = beforePull
    self.ended = ended
    epoch = stream.epoch
    length = framing.length
    let decoder = BodyDecoder(framing, limits: limits, form: form, isStream: laterTrailers != nil)
    state = Mutex(State(phase: decoder.isComplete ? .complete([:]) : .ready(decoder)))
    pace?.waits()
  }

  deinit { cancel() }

  /// The violation in the message's framing, if any.
  var violation: ProtocolViolation? { state.withLock { $0.violation } }

  /// Whether the whole content was read from the connection.
  var isComplete: Bool {
    state.withLock { if case .complete = $0.phase { true } else { false } }
  }

  var trailers: HTTPFields {
    state.withLock { if case .complete(let trailers) = $0.phase { trailers } else { [:] } }
  }

  func next() async throws -> BodyBytes? {
    let decoder = try state.withLock { state throws(CancellationError) -> BodyDecoder? in
      switch state.phase {
      case .ready(let decoder):
        state.phase = .pulling
        return decoder
      case .complete: return nil
      case .pulling, .broken: throw CancellationError()
      }
    }
    guard let decoder else { return nil }
    return try await pull(decoder)
  }

  private func pull(_ decoder: BodyDecoder) async throws -> BodyBytes? {
    var decoder = decoder
    pace?.goesOn()
    defer { pace?.waits() }
    do {
      try await beforePull?()
      while true {
        guard var buffer = try await read(decoder) else {
          try decoder.end()
          finish(decoder)
          return nil
        }
        let content = try decoder.next(&buffer)
        stream.unread(buffer)
        if decoder.isComplete {
          finish(decoder)
        } else if content != nil {
          guard resume(decoder) else { throw CancellationError() }
        }
        if let content, content.readableBytes > 0 { return BodyBytes(content) }
        if decoder.isComplete { return nil }
      }
    } catch {
      fail(error as? ProtocolViolation)
      throw Self.upstreamError(error)
    }
  }

  /// The next bytes; nil at the end.
  private func read(_ decoder: BodyDecoder) async throws -> ByteBuffer? {
    guard decoder.awaitsEndAlone else {
      return try await stream.read(until: stream.now.after(stall), epoch: epoch)
    }
    // The origin gets a request of a known length without trailers: its end tells nothing more.
    if form == .request { return nil }
    return try await stream.readBehindContent(epoch: epoch)
  }

  private static func upstreamError(_ error: any Error) -> any Error {
    switch error {
    case let error as ProtocolViolation: UpstreamError(.protocol, error.description, cause: error)
    case StreamError.timedOut:
      UpstreamError(.timeout, "the rest of the body did not arrive in time", cause: error)
    case StreamError.cancelled: CancellationError()
    case StreamError.closed: UpstreamError(.protocol, "the connection was closed", cause: error)
    case StreamError.failed(let cause):
      UpstreamError(.protocol, "the connection failed: \(cause)", cause: cause)
    default: error
    }
  }

  private func resume(_ decoder: BodyDecoder) -> Bool {
    state.withLock { state in
      guard case .pulling = state.phase else { return false }
      state.phase = .ready(decoder)
      return true
    }
  }

  private func finish(_ decoder: BodyDecoder) {
    let isFirst = state.withLock { state in
      guard case .pulling = state.phase else { return false }
      state.phase = .complete(trailers(decoder))
      return true
    }
    if isFirst { ended(true) }
  }

  /// The trailers, without fields that would be removed from a head.
  private func trailers(_ decoder: BodyDecoder) -> HTTPFields {
    var fields = laterTrailers?.received ?? decoder.trailers
    fields.removeAll { field in
      connectionOptions.contains(field.name.canonicalName)
        || form == .request && (field.name.tellsOfClient || field.name.overridesTarget)
    }
    return fields
  }

  private func fail(_ violation: ProtocolViolation?) {
    let isFirst = state.withLock { state in
      if let violation { state.violation = violation }
      if case .pulling = state.phase {
        state.phase = .broken
        return true
      }
      return false
    }
    if isFirst { ended(false) }
  }

  func cancel() {
    let isFirst = state.withLock { state in
      switch state.phase {
      case .ready, .pulling:
        state.phase = .broken
        return true
      case .complete, .broken: return false
      }
    }
    guard isFirst else { return }
    stream.interrupt()
    ended(false)
  }
}
