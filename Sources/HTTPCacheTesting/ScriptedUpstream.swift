public import HTTPCacheStore
public import HTTPCaching
public import HTTPTypes

/// An upstream that answers from a script and records its requests.
///
///     let upstream = ScriptedUpstream { request in
///       .init(headers: ["Cache-Control": "max-age=60"], body: "hello")
///     }
///     let upstream = ScriptedUpstream([.init(body: "one"), .failure(.unreachable)])
public final class ScriptedUpstream: Upstream {
  /// A request as it arrived.
  public struct Received: Sendable {
    /// Method, target and fields.
    public let head: HTTPRequest
    /// The content, read to its end; nil for none.
    public let body: BodyBytes?
    /// The whole request; its body has been read.
    public let request: UpstreamRequest

    /// The value of a field by its name, in any case; nil if there is none.
    public subscript(name: String) -> String? {
      HTTPField.Name(name).flatMap { head.headerFields[$0] }
    }
  }

  private struct State {
    var received: [Received] = []
    var queue: ArraySlice<ScriptedResponse>
    var cancelledBodies = 0
  }

  private let state: WatchedState<State>
  private let answer: (@Sendable (Received) async -> ScriptedResponse)?

  /// Makes an upstream that computes its answers.
  public init(_ answer: @escaping @Sendable (Received) async -> ScriptedResponse) {
    state = WatchedState(State(queue: []))
    self.answer = answer
  }

  /// Makes an upstream that gives these answers in order, and cannot be reached afterwards.
  public init(_ responses: [ScriptedResponse] = []) {
    state = WatchedState(State(queue: responses[...]))
    answer = nil
  }

  /// Adds an answer to the queue; without effect on an upstream that computes its answers.
  public func enqueue(_ response: ScriptedResponse) {
    state.withLock { $0.queue.append(response) }
  }

  /// The requests that arrived, in order.
  public var requests: [Received] { state.withLock { $0.received } }

  /// The number of requests that arrived.
  public var requestCount: Int { state.withLock { $0.received.count } }

  /// The number of bodies that were cancelled or dropped before their end.
  public var cancelledBodies: Int { state.withLock { $0.cancelledBodies } }

  /// Waits until `count` requests have arrived. Returns early if the task is cancelled.
  public func waitForRequests(_ count: Int) async {
    await state.wait { $0.received.count >= count }
  }

  /// Answers from the script.
  ///
  /// - Throws: the script's error before the head; `.unreachable` when the queue is empty; `.cancelled` when
  ///   the task is cancelled while the head is held back; `.protocol` when the request's own body fails.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let received = Received(
      head: request.head, body: try await Self.collect(request.body), request: request)
    let next = record(received)
    let response: ScriptedResponse
    if let answer {
      response = await answer(received)
    } else if let next {
      response = next
    } else {
      throw UpstreamError(.unreachable, "the script has no more answers")
    }
    for step in response.beforeHead {
      switch step {
      case .bytes: continue
      case .fail(let error): throw error
      case .wait(let gate):
        do { try await gate.pass() } catch {
          throw UpstreamError(.cancelled, "cancelled before the head", cause: error)
        }
      }
    }
    for interim in response.interim { await request.onInterim?(interim) }
    let body = ScriptedBody(response) { [weak self] in
      self?.state.withLock { $0.cancelledBodies += 1 }
    }
    return UpstreamResponse(
      head: response.head, body: MessageBody(body), isContentDecoded: response.isContentDecoded)
  }

  private static func collect(_ body: MessageBody?) async throws(UpstreamError) -> BodyBytes? {
    guard let body else { return nil }
    do { return try await body.collect() } catch {
      throw UpstreamError(.protocol, "the request's body failed", cause: error)
    }
  }

  private func record(_ received: Received) -> ScriptedResponse? {
    state.withLock { state in
      state.received.append(received)
      return state.queue.popFirst()
    }
  }
}
