/// Where a task of a simulation pauses until the scheduler lets the task go on.
enum Place: Int, CaseIterable, Sendable {
  /// A request is on its way to the origin.
  case request
  /// The head of a response is on its way from the origin.
  case head
  /// The next part of a body is on its way from the origin.
  case body
  /// A call to the store waits for its turn.
  case storeBegin
  /// A call to the store has taken effect and has not returned yet.
  case storeEnd
  /// The store reads a body.
  case storeRead
  /// A call to the tier of a fleet is on its way to the server.
  case tierBegin
  /// The answer of the tier is on its way back.
  case tierEnd
  /// The `willStore` hook decides.
  case hook
  /// A client reads the next part of its response.
  case client
  /// A task sleeps. Only the clock ends that.
  case sleep

  /// Whether a call to the tier of a fleet pauses here.
  var isOfTier: Bool { self == .tierBegin || self == .tierEnd }

  /// Whether the cache's own store or hook, not the origin, keeps a caller waiting here.
  var isOwn: Bool {
    switch self {
    case .storeBegin, .storeEnd, .storeRead, .tierBegin, .tierEnd, .hook: true
    case .request, .head, .body, .client, .sleep: false
    }
  }
}
