import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("The limit of bytes per second", .timeLimit(.minutes(10)))
struct DownloadRateLimitTests {
  /// Advances the clock by a second whenever a task sleeps.
  private func drive(_ clock: ManualClock, while isRunning: @Sendable () -> Bool) async {
    while isRunning() {
      if clock.sleeperCount > 0 { clock.advance(by: 1) }
      await Task.yield()
    }
  }

  @Test("transfers together take the time that the limit gives them")
  func limit() async {
    let clock = ManualClock(now: TestQueue.start)
    let limiter = RateLimiter(rate: 1_000, clock: clock)
    let left = SharedNumber(3)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<5 { await limiter.take(400) }
          left.add(-1)
        }
      }
      await drive(clock) { left.value > 0 }
    }
    #expect(clock.uptime >= .seconds(5))
  }

  @Test("one transfer takes exactly that time")
  func exact() async {
    let clock = ManualClock(now: TestQueue.start)
    let limiter = RateLimiter(rate: 1_000, clock: clock)
    let left = SharedNumber(1)
    let task = Task {
      for _ in 0..<6 { await limiter.take(1_000) }
      left.add(-1)
    }
    await drive(clock) { left.value > 0 }
    await task.value
    #expect(clock.uptime == .seconds(6))
  }

  @Test("a new limit reaches a transfer that waits by the old one")
  func changing() async {
    let clock = ManualClock(now: TestQueue.start)
    let limiter = RateLimiter(rate: 1, clock: clock)
    let task = Task { await limiter.take(1_000_000) }
    await clock.waitForSleepers()
    limiter.setRate(nil)
    clock.advance(by: 1)
    await task.value
    #expect(clock.uptime == .seconds(1))
  }

  @Test("a cancelled transfer does not wait")
  func cancelled() async {
    let clock = ManualClock(now: TestQueue.start)
    let limiter = RateLimiter(rate: 1, clock: clock)
    let task = Task { await limiter.take(1_000_000) }
    await clock.waitForSleepers()
    task.cancel()
    await task.value
    #expect(clock.uptime == .zero)
  }

  @Test("waiting for the limit is no stall")
  func noStall() async throws {
    let test = try TestQueue(count: 1_000) {
      $0.rateLimit = 10
      $0.stallLimit = .seconds(5)
    }
    test.origin.change { $0.piece = 100 }
    let id = try test.add()
    await drive(test.clock) { test.queue.status(of: id)?.state.isEnded == false }
    #expect(test.queue.status(of: id)?.state == .done(.fetched))
    #expect(test.upstream.requestCount == 1)
    #expect(test.clock.uptime >= .seconds(90))
  }
}
