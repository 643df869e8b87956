import HTTPCacheTesting
import HTTPCaching

/// An origin that answers from a closure, can be held back and made to fail.
final class TestOrigin: Upstream {
  typealias Answer = (status: Int, fields: HTTPFields, body: String)

  private struct State {
    var answer: @Sendable (HTTPRequest, Int) -> Answer = { _, _ in (200, [:], "") }
    var failure: UpstreamError.Kind?
    var failuresLeft = Int.max
    var source: (@Sendable (HTTPRequest) -> any BodySource)?
    var gate: Gate?
    var requests: [HTTPRequest] = []
  }

  private let state = WatchedState(State())

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  func answers(_ answer: @escaping @Sendable (HTTPRequest, Int) -> Answer) {
    state.withLock { state in
      state.answer = answer
      state.failure = nil
      state.source = nil
    }
  }

  func always(_ status: Int, _ fields: HTTPFields, _ body: String) {
    answers { _, _ in (status, fields, body) }
  }

  /// Answers with a body that the test makes.
  func streams(
    _ fields: HTTPFields, status: @escaping @Sendable (HTTPRequest) -> Int = { _ in 200 },
    _ source: @escaping @Sendable (HTTPRequest) -> any BodySource
  ) {
    answers { request, _ in (status(request), fields, "") }
    state.withLock { $0.source = source }
  }

  func fails(_ kind: UpstreamError.Kind, times: Int = .max) {
    state.withLock { state in
      state.failure = kind
      state.failuresLeft = times
    }
  }

  /// Keeps every head back until `release`.
  func hold() { state.withLock { $0.gate = Gate() } }

  func release() {
    let gate = state.withLock { $0.gate.take() }
    gate?.open()
  }

  /// Waits until this many requests have arrived.
  func arrived(_ count: Int) async {
    await state.wait { $0.requests.count >= count }
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let (gate, number) = state.withLock { state in
      state.requests.append(request.head)
      return (state.gate, state.requests.count)
    }
    do { try await gate?.pass() } catch { throw UpstreamError(.cancelled, "cancelled") }
    let (answer, failure, source) = state.withLock { state in
      var failure: UpstreamError.Kind?
      if state.failuresLeft > 0, let kind = state.failure {
        failure = kind
        state.failuresLeft -= 1
      }
      return (state.answer, failure, state.source)
    }
    if let failure { throw UpstreamError(failure, "scripted") }
    let (status, fields, text) = answer(request.head, number)
    let body =
      source.map { MessageBody($0(request.head)) } ?? MessageBody(BodyBytes(Array(text.utf8)))
    return UpstreamResponse(
      head: HTTPResponse(status: .init(code: status), headerFields: fields), body: body)
  }
}
