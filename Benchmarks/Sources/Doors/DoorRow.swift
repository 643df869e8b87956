/// A way to ask for a stored response.
struct DoorRow: Sendable {
  let name: String
  let call: @Sendable () async throws -> Void

  /// Microseconds of one call, in eleven rounds, shortest first.
  func measured() async throws -> [Double] {
    let clock = ContinuousClock()
    for _ in 0..<20 { try await call() }
    let once = try await clock.measure { for _ in 0..<20 { try await call() } } / 20
    let calls = max(10, Int(.milliseconds(60) / max(once, .nanoseconds(500))))
    var rounds: [Double] = []
    for _ in 0..<11 {
      let time = try await clock.measure { for _ in 0..<calls { try await call() } }
      rounds.append(time / .microseconds(1) / Double(calls))
    }
    return rounds.sorted()
  }
}
