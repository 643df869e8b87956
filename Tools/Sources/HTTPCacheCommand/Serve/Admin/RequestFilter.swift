import ArgumentParser
import HTTPCacheProxy

/// Chooses requests.
struct RequestFilter: Sendable {
  private let target: String?
  private let outcomes: Set<String>
  private let client: IPAddress?

  /// Makes a filter; nil matches all.
  ///
  /// - Parameters:
  ///   - target: a part of host and target.
  ///   - outcomes: words as in the access log, with commas between them.
  ///   - client: the address of the client.
  /// - Throws: `ValidationError` for a word that no outcome has, or for no address: such a filter would wait for ever.
  init(target: String?, outcomes: String?, client: String?) throws(ValidationError) {
    self.target = target
    self.outcomes = Set((outcomes ?? "").split(separator: ",").map { String($0) })
    self.client = client.flatMap { IPAddress($0) }
    if let client, self.client == nil {
      throw ValidationError("client must be an IP address, such as 192.0.2.1 (got '\(client)')")
    }
    if let unknown = self.outcomes.sorted().first(where: { !RequestOutcome.isKnown($0) }) {
      let known = RequestOutcome.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError(
        "outcome must be among \(known), each also with -aborted after it (got '\(unknown)')")
    }
  }

  func matches(_ request: AccessLog.Entry) -> Bool {
    (outcomes.isEmpty || outcomes.contains(request.outcome))
      && (client.map { $0 == IPAddress(request.client) } ?? true)
      && (target.map { (request.host + request.target).contains($0) } ?? true)
  }
}
