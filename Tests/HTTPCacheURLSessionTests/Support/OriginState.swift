import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What an origin and the threads of its connections share.
final class OriginState: Sendable {
  enum Counted: Sendable { case requests, abandoned }

  private struct State {
    var handler: SocketOrigin.Handler
    var requests: [OriginRequest] = []
    var abandoned = 0
    var open: Set<Int32> = []
    var isStopped = false
    var waiting: [(Counted, count: Int, CheckedContinuation<Void, Never>)] = []

    func count(of counted: Counted) -> Int { counted == .requests ? requests.count : abandoned }

    mutating func takeDue() -> [CheckedContinuation<Void, Never>] {
      let due = waiting.filter { count(of: $0.0) >= $0.count }
      waiting = waiting.filter { count(of: $0.0) < $0.count }
      return due.map(\.2)
    }
  }

  private let state: Mutex<State>

  init(_ handler: @escaping SocketOrigin.Handler) { state = Mutex(State(handler: handler)) }

  var requests: [OriginRequest] { state.withLock { $0.requests } }
  func count(of counted: Counted) -> Int { state.withLock { $0.count(of: counted) } }
  func answers(_ handler: @escaping SocketOrigin.Handler) { state.withLock { $0.handler = handler } }

  func wait(for counted: Counted, _ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.count(of: counted) >= count { return true }
        state.waiting.append((counted, count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Keeps a request and says how to answer it.
  func received(_ request: OriginRequest) -> OriginAnswer {
    var request = request
    let (handler, due) = state.withLock { state in
      request.number = state.requests.count + 1
      state.requests.append(request)
      return (state.handler, state.takeDue())
    }
    let answer = handler(request)
    for continuation in due { continuation.resume() }
    return answer
  }

  func abandoned() {
    let due = state.withLock { state in
      state.abandoned += 1
      return state.takeDue()
    }
    for continuation in due { continuation.resume() }
  }

  /// Whether the connection may be served.
  func add(_ descriptor: Int32) -> Bool {
    state.withLock { $0.isStopped ? false : $0.open.insert(descriptor).inserted }
  }

  func close(_ descriptor: Int32) {
    state.withLock { state in
      state.open.remove(descriptor)
      #if canImport(Glibc)
        _ = Glibc.close(descriptor)
      #else
        _ = Darwin.close(descriptor)
      #endif
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
