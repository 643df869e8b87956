import HTTPCacheLibC
import HTTPCacheTesting

/// State shared by an origin and the threads of its connections.
final class OriginState: Sendable {
  enum Counted: Sendable { case requests, sent, abandoned }

  private struct State {
    var handler: SocketOrigin.Handler
    var requests: [OriginRequest] = []
    /// The number of requests whose answer is known.
    var handled = 0
    var sent = 0
    var abandoned = 0
    var open: Set<Int32> = []
    var isStopped = false

    func count(of counted: Counted) -> Int {
      switch counted {
      case .requests: requests.count
      case .sent: sent
      case .abandoned: abandoned
      }
    }
  }

  private let state: WatchedState<State>

  init(_ handler: @escaping SocketOrigin.Handler) { state = WatchedState(State(handler: handler)) }

  var requests: [OriginRequest] { state.withLock { $0.requests } }
  func answers(_ handler: @escaping SocketOrigin.Handler) { state.withLock { $0.handler = handler } }

  func wait(for counted: Counted, _ count: Int) async {
    await state.wait { (counted == .requests ? $0.handled : $0.count(of: counted)) >= count }
  }

  /// Records a request and returns its answer.
  func received(_ request: OriginRequest) -> OriginAnswer {
    var request = request
    let handler = state.withLock { state in
      request.number = state.requests.count + 1
      state.requests.append(request)
      return state.handler
    }
    defer { state.withLock { $0.handled += 1 } }
    return handler(request)
  }

  /// Records an answer that was written to its end.
  func sent() { state.withLock { $0.sent += 1 } }

  func abandoned() { state.withLock { $0.abandoned += 1 } }

  /// Whether the connection may be served.
  func add(_ descriptor: Int32) -> Bool {
    state.withLock { $0.isStopped ? false : $0.open.insert(descriptor).inserted }
  }

  func close(_ descriptor: Int32) {
    state.withLock { state in
      state.open.remove(descriptor)
      _ = HTTPCacheLibC.close(descriptor)
    }
  }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func stop(_ listener: Int32) {
    state.withLock { state in
      guard !state.isStopped else { return }
      state.isStopped = true
      for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
      shutdown(listener, Int32(SHUT_RDWR))
    }
  }
}
