import HTTPCacheFuzzing
import Testing

/// Generated header sets. `scripts/hostile.sh` checks a million of them, built with optimisation, and takes
/// the seed that a failure prints.
@Suite(.timeLimit(.minutes(10))) struct HostileTests {
  @Test("Whatever arrives, what must hold for all header fields does")
  func headerSets() {
    var stored = 0
    for seed in UInt64(1)...3_000 {
      var random = Seeded(seed: seed)
      let exchange = HostileExchange(&random)
      do {
        if try ExchangeProperties.check(exchange) { stored += 1 }
      } catch {
        Issue.record("seed \(seed): \(error)\n\(String(decoding: exchange.text, as: UTF8.self))")
      }
    }
    #expect(stored > 1_500)
  }

  @Test("The text of generated header sets, read and written, stays the same")
  func text() {
    for seed in UInt64(1)...500 {
      var random = Seeded(seed: seed)
      let text = HostileExchange(&random).text
      // Spaces in a path make other words of it the first time.
      let once = text.withUnsafeBytes { HostileExchange($0).text }
      let twice = once.withUnsafeBytes { HostileExchange($0).text }
      let isSame = once == twice
      #expect(isSame, "seed \(seed)")
      let lines = (text.count { $0 == 0x0A }, once.count { $0 == 0x0A })
      #expect(lines.0 == lines.1, "seed \(seed)")
    }
  }

  @Test("RFC 9112 §6: each message ends where a second reader finds its end, however its bytes arrive")
  func messages() {
    for seed in UInt64(1)...2_000 {
      var random = Seeded(seed: seed)
      let stream = HostileMessages.stream(&random)
      do {
        try stream.withUnsafeBytes { try FuzzTarget.http1.run($0) }
      } catch {
        Issue.record("seed \(seed): \(error)\n\(String(decoding: stream, as: UTF8.self).debugDescription)")
      }
    }
  }

  @Test("Replies of a Redis server are the same values at every split; `make replies` reads 10⁹ bytes")
  func replies() {
    for seed in UInt64(1)...1_000 {
      do { _ = try ReplySplits.check(seed: seed) } catch { Issue.record("seed \(seed): \(error)") }
    }
  }
}
