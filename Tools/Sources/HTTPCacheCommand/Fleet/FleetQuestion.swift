import HTTPCaching

/// Asks a fleet's server from a command, which has more time than a request.
enum FleetQuestion {
  /// How long a command waits for a server that does not answer.
  static let patience = Duration.seconds(5)

  /// Asks until there is an answer. The server's deadlines are those of requests: a first connection, with TLS and a
  /// look-up of names, may take longer.
  ///
  /// - Parameter patience: how long to wait.
  /// - Throws: `SharedTierError`: at once if the server refuses, after the second attempt if it cannot be reached, else the
  ///   last one.
  static func answer<Answer: Sendable>(
    within patience: Duration = patience, _ body: () async throws(SharedTierError) -> Answer
  ) async throws(SharedTierError) -> Answer {
    let end = ContinuousClock.now + patience
    var attempts = 0
    while true {
      do throws(SharedTierError) {
        attempts += 1
        return try await body()
      } catch {
        let isWorthAnother =
          switch error.kind {
          case .timeout, .unavailable: true
          // On a busy machine a connection may take too long.
          case .unreachable: attempts < 2
          case .refused, .protocol: false
          }
        guard isWorthAnother, ContinuousClock.now < end else { throw error }
        do { try await Task.sleep(for: .milliseconds(100)) } catch {
          throw SharedTierError(.timeout, "cancelled")
        }
      }
    }
  }
}
