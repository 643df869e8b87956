import HTTPCacheStore
import Testing

extension EvictionPolicy {
  fileprivate func admits(candidateHash: UInt64, size: Int64, over victims: [Double]) -> Bool {
    victims.allSatisfy { $0 <= admissionBound(candidateHash: candidateHash, size: size) }
  }
}

@Suite("EvictionPolicy", .timeLimit(.minutes(10)))
struct EvictionPolicyTests {
  @Test("puts frequent and small entries into higher buckets, in steps of half an octave")
  func buckets() {
    let policy = EvictionPolicy(exponent: 1)
    #expect(policy.bucket(frequency: 1, size: 1) == 0)
    #expect(policy.bucket(frequency: 1, size: 1_024) == -20)
    #expect(policy.bucket(frequency: 8, size: 1_024) == -12)
    #expect(policy.bucket(frequency: 0, size: 0) == 0)
    #expect(policy.bucket(frequency: 15, size: .max) == -116)
    #expect(policy.bucket(frequency: 1, size: 1_500) < policy.bucket(frequency: 1, size: 1_000))
  }

  @Test("lets size count less with a smaller exponent")
  func exponent() {
    let disk = EvictionPolicy(exponent: 0.5)
    #expect(disk.bucket(frequency: 1, size: 1_024) == -10)
    let none = EvictionPolicy(exponent: 0)
    #expect(none.bucket(frequency: 2, size: 1) == none.bucket(frequency: 2, size: 1 << 30))
  }

  @Test("raises priorities to what was evicted, and never lowers them")
  func inflation() {
    var policy = EvictionPolicy(exponent: 1)
    let before = policy.priority(bucket: -20)
    policy.evicted(priority: before)
    #expect(policy.priority(bucket: -20) == 2 * before)
    policy.evicted(priority: 0)
    #expect(policy.inflation == before)
    #expect(EvictionPolicy(exponent: 1, inflation: 3).priority(bucket: 0) == 4)
  }

  @Test("admits whatever displaces nothing")
  func noVictims() {
    let policy = EvictionPolicy(exponent: 1)
    #expect(policy.admits(candidateHash: 1, size: .max, over: []))
  }

  @Test("admits what is worth as much as its victims, and refuses what is worth less")
  func admission() {
    var policy = EvictionPolicy(exponent: 1)
    let once = policy.priority(bucket: policy.bucket(frequency: 1, size: 1_000))
    let often = policy.priority(bucket: policy.bucket(frequency: 8, size: 1_000))
    policy.recordUse(hash: 1)
    let cheap = once
    let dear = often
    #expect(policy.admits(candidateHash: 1, size: 1_000, over: [cheap]))
    #expect(!policy.admits(candidateHash: 1, size: 1_000, over: [cheap, dear]))
    #expect(!policy.admits(candidateHash: 1, size: 100_000, over: [cheap]))
    for _ in 0..<8 { policy.recordUse(hash: 1) }
    #expect(policy.admits(candidateHash: 1, size: 1_000, over: [cheap, dear]))
  }

  @Test("lets newcomers in after enough refusals, however dear the entries are")
  func notStuck() {
    var policy = EvictionPolicy(exponent: 1)
    let dear = policy.priority(bucket: policy.bucket(frequency: 15, size: 100))
    let victims = [dear]
    var refusals = 0
    while !policy.admits(candidateHash: 5, size: 10_000, over: victims), refusals < 10_000 {
      policy.evicted(priority: policy.admissionBound(candidateHash: 5, size: 10_000))
      refusals += 1
    }
    #expect(refusals > 10)
    #expect(refusals < 10_000)
  }
}
