import CAllocationCount

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

  /// The allocations of one call, those on other threads included; nil if they cannot be counted.
  func allocations() async throws -> Double? {
    guard allocation_count_is_available() == 1 else { return nil }
    let before = allocation_count_of_all_threads()
    for _ in 0..<1_000 { try await call() }
    return Double(allocation_count_of_all_threads() - before) / 1_000
  }
}
