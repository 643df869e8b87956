import HTTPCacheStore
import Testing

@Suite("FrequencySketch", .timeLimit(.minutes(10)))
struct FrequencySketchTests {
  @Test("counts up to 15 and never below the truth")
  func counts() {
    var sketch = FrequencySketch()
    sketch.expect(entries: 10_000)
    for key in 0..<1_000 as Range<UInt64> {
      for _ in 0..<key % 20 { sketch.recordUse(of: key &* 0x9E37_79B9_7F4A_7C15) }
    }
    for key in 0..<1_000 as Range<UInt64> {
      let frequency = sketch.frequency(of: key &* 0x9E37_79B9_7F4A_7C15)
      #expect(frequency >= min(15, Int(key % 20)))
      #expect(frequency <= FrequencySketch.ceiling)
    }
  }

  @Test("is exact for almost all keys while it has room")
  func accuracy() {
    var sketch = FrequencySketch()
    sketch.expect(entries: 10_000)
    for key in 0..<5_000 as Range<UInt64> { sketch.recordUse(of: key << 32 | key) }
    let wrong = (0..<5_000 as Range<UInt64>).count { sketch.frequency(of: $0 << 32 | $0) != 1 }
    #expect(wrong < 250)
    let ghosts = (5_000..<10_000 as Range<UInt64>).count {
      sketch.frequency(of: $0 << 32 | $0) != 0
    }
    #expect(ghosts < 250)
  }

  @Test("forgets what is no longer used")
  func halving() {
    var sketch = FrequencySketch()
    for _ in 0..<15 { sketch.recordUse(of: 7) }
    #expect(sketch.frequency(of: 7) == 15)
    for key in 0..<60_000 as Range<UInt64> { sketch.recordUse(of: (key + 100) &* 0x1_0000_0001) }
    #expect(sketch.frequency(of: 7) < 15)
  }

  @Test("forgets nothing when it grows, and has room for more then")
  func growth() {
    var sketch = FrequencySketch()
    for key in 0..<500 as Range<UInt64> {
      for _ in 0..<key % 5 { sketch.recordUse(of: key << 32 | key) }
    }
    let before = (0..<500 as Range<UInt64>).map { sketch.frequency(of: $0 << 32 | $0) }
    sketch.expect(entries: 50_000)
    #expect((0..<500 as Range<UInt64>).map { sketch.frequency(of: $0 << 32 | $0) } == before)
    for key in 1_000..<51_000 as Range<UInt64> { sketch.recordUse(of: key << 32 | key) }
    let right = (1_000..<51_000 as Range<UInt64>).count {
      sketch.frequency(of: $0 << 32 | $0) == 1
    }
    #expect(right > 45_000)
  }
}

@Suite("LargestEntry", .timeLimit(.minutes(10)))
struct LargestEntryTests {
  @Test("bytes and shares, never more than the capacity nor less than nothing")
  func bytes() {
    #expect(LargestEntry.bytes(100).bytes(of: 1_000) == 100)
    #expect(LargestEntry.bytes(5_000).bytes(of: 1_000) == 1_000)
    #expect(LargestEntry.bytes(-1).bytes(of: 1_000) == 0)
    #expect(LargestEntry.default.bytes(of: 1_000) == 500)
    #expect(LargestEntry.default.inMemory.bytes(of: 1_000) == 125)
    #expect(LargestEntry.share(0.5).inMemory == .share(0.5))
    #expect(LargestEntry.share(0.1).bytes(of: 1 << 30) == 107_374_182)
    #expect(LargestEntry.share(1).bytes(of: .max) == .max)
    #expect(LargestEntry.share(2).bytes(of: 10) == 10)
    #expect(LargestEntry.share(.nan).bytes(of: 10) == 0)
    #expect(LargestEntry.share(0.99).bytes(of: .max) < .max)
    let literal: LargestEntry = 12
    #expect(literal == .bytes(12))
  }
}
