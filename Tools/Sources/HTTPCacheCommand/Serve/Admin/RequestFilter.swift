import HTTPCacheProxy

/// Chooses requests.
struct RequestFilter: Sendable {
  private let target: String?
  private let outcomes: Set<String>
  private let client: String?

  /// Makes a filter; nil matches all.
  ///
  /// - Parameters:
  ///   - target: a part of the target.
  ///   - outcomes: words as in the access log, with commas between them.
  ///   - client: the address of the client.
  init(target: String?, outcomes: String?, client: String?) {
    self.target = target
    self.outcomes = Set((outcomes ?? "").split(separator: ",").map { String($0) })
    self.client = client
  }

  func matches(_ request: FinishedRequest) -> Bool {
    (outcomes.isEmpty || outcomes.contains(request.outcome))
      && (client.map { $0 == request.client } ?? true)
      && (target.map { request.target.contains($0) } ?? true)
  }
}
