import HTTPCacheSemantics
import HTTPCacheStore
import Testing

@testable import HTTPCaching

@Suite("Coalescer: one leader per key", .timeLimit(.minutes(10)))
struct RequestCoalescerTests {
  private let key = CacheKey(mode: .private, target: "https://example.com/")

  private let invalidations = ChangeCounters()

  private func join(
    _ coalescer: inout RequestCoalescer<Int>, _ key: CacheKey, at uptime: Duration = .zero
  ) -> CoalescerRole {
    coalescer.join(key, ticket: invalidations.ticket(), uptime: uptime) {
      invalidations.isOvertaken(key, groups: $0, since: $1)
    }.role
  }

  private func leading(_ coalescer: inout RequestCoalescer<Int>) throws -> UInt64 {
    guard case .lead(let flight) = join(&coalescer, key) else {
      throw Unexpected(what: "the first request leads")
    }
    return flight
  }

  private func isWaiting(_ news: CoalescerNews?) -> Bool { if case nil = news { true } else { false } }

  @Test("the second request waits, another key leads")
  func secondWaits() throws {
    var coalescer = RequestCoalescer<Int>()
    let flight = try leading(&coalescer)
    guard case .wait(flight) = join(&coalescer, key) else {
      throw Unexpected(what: "waits for the same flight")
    }
    let other = CacheKey(mode: .private, target: "https://example.com/other")
    guard case .lead = join(&coalescer, other) else {
      throw Unexpected(what: "other keys do not wait")
    }
  }

  @Test("an unshareable response releases all, and keeps later ones from waiting for a while")
  func hitForMiss() throws {
    var coalescer = RequestCoalescer<Int>()
    let flight = try leading(&coalescer)
    #expect(isWaiting(coalescer.wait(key, flight: flight, as: 1, 11)))
    #expect(isWaiting(coalescer.wait(key, flight: flight, as: 2, 22)))
    let released = coalescer.end(key, flight: flight, isUnshareable: true, uptime: .zero)
    #expect(Set(released) == [11, 22])
    guard case .goAlone = join(&coalescer, key, at: .seconds(1)) else {
      throw Unexpected(what: "goes alone")
    }
    guard case .lead = join(&coalescer, key, at: .seconds(3)) else {
      throw Unexpected(what: "leads again after 2 s")
    }
  }

  @Test("a leader that fails passes the lead on once, then all fail")
  func passedOnOnce() throws {
    var coalescer = RequestCoalescer<Int>()
    let flight = try leading(&coalescer)
    for waiter in 1...3 {
      #expect(isWaiting(coalescer.wait(key, flight: flight, as: UInt64(waiter), waiter)))
    }
    let first = coalescer.leaderFailed(key, flight: flight, isOwnLimit: false)
    #expect(first.successor == 1)
    #expect(first.others.isEmpty)
    let second = coalescer.leaderFailed(key, flight: flight, isOwnLimit: false)
    #expect(second.successor == nil)
    #expect(Set(second.others) == [2, 3])
    guard case .lead = join(&coalescer, key) else {
      throw Unexpected(what: "the flight is over")
    }
  }

  @Test("leaders that are left by their callers pass the lead on as often as it takes")
  func leftLeaders() throws {
    var coalescer = RequestCoalescer<Int>()
    let flight = try leading(&coalescer)
    for waiter in 1...3 {
      #expect(isWaiting(coalescer.wait(key, flight: flight, as: UInt64(waiter), waiter)))
    }
    for expected in 1...3 {
      let left = coalescer.leaderFailed(key, flight: flight, isOwnLimit: true)
      #expect(left.successor == expected)
      #expect(left.others.isEmpty)
    }
  }

  @Test("a waiter that leaves is forgotten, and late words of an old flight change nothing")
  func leaving() throws {
    var coalescer = RequestCoalescer<Int>()
    let flight = try leading(&coalescer)
    #expect(isWaiting(coalescer.wait(key, flight: flight, as: 1, 11)))
    #expect(coalescer.leave(key, flight: flight, waiter: 1) == 11)
    #expect(coalescer.end(key, flight: flight, uptime: .zero).isEmpty)
    let next = try leading(&coalescer)
    #expect(coalescer.end(key, flight: flight, uptime: .zero).isEmpty)
    guard case .wait(next) = join(&coalescer, key) else {
      throw Unexpected(what: "the new flight goes on")
    }
    guard case .lookAgain = coalescer.wait(key, flight: flight, as: 5, 55) else {
      throw Unexpected(what: "who waits for a flight that is over looks again")
    }
  }
}
