import HTTPCacheStore
import Testing

@Suite("FrequencySketch", .timeLimit(.minutes(10)))
struct FrequencySketchTests {
  @Test("counts up to 15 and never below the truth")
  func counts() {
    var sketch = FrequencySketch(expectedEntries: 10_000)
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
    var sketch = FrequencySketch(expectedEntries: 10_000)
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
    var sketch = FrequencySketch(expectedEntries: 1)
    for _ in 0..<15 { sketch.recordUse(of: 7) }
    #expect(sketch.frequency(of: 7) == 15)
    for key in 0..<60_000 as Range<UInt64> { sketch.recordUse(of: (key + 100) &* 0x1_0000_0001) }
    #expect(sketch.frequency(of: 7) < 15)
  }

  @Test("forgets nothing when it grows, and has room for more then")
  func growth() {
    var sketch = FrequencySketch(expectedEntries: 0)
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

@Suite("FrequencySketch: kept and merged", .timeLimit(.minutes(10)))
struct SavedSketchTests {
  private func sketch(_ counts: [UInt64: Int], entries: Int = 0) -> FrequencySketch {
    var sketch = FrequencySketch(expectedEntries: entries)
    for (key, count) in counts { for _ in 0..<count { sketch.recordUse(of: key) } }
    return sketch
  }

  @Test("what was encoded is the same, and tells its writer")
  func encoding() throws {
    let sketch = sketch([7: 3, 1 << 40: 15], entries: 1_000)
    let bytes = sketch.encoded(by: 99, secretMark: 5)
    #expect(bytes.count <= FrequencySketch.longestEncoding)
    let found = try #require(FrequencySketch.decode(bytes, secretMark: 5))
    #expect(found.writer == 99)
    #expect(found.sketch.frequency(of: 7) == 3)
    #expect(found.sketch.frequency(of: 1 << 40) == 15)
    #expect(found.sketch.encoded(by: 99, secretMark: 5) == bytes)
    #expect(FrequencySketch.decode(bytes, secretMark: 6) == nil)
  }

  @Test("any flipped byte, any other length, is no sketch")
  func damaged() {
    let bytes = sketch([7: 3]).encoded(by: 1, secretMark: 5)
    for index in stride(from: 0, to: bytes.count, by: 37) {
      var damaged = bytes
      damaged[index] ^= 0x10
      #expect(FrequencySketch.decode(damaged, secretMark: 5) == nil, "byte \(index)")
    }
    for count in [0, 1, 40, bytes.count - 8, bytes.count - 1] {
      #expect(FrequencySketch.decode(Array(bytes[..<count]), secretMark: 5) == nil)
    }
    #expect(FrequencySketch.decode(bytes + bytes, secretMark: 5) == nil)
  }

  @Test("the larger count stays, whatever the sizes; half of the other one's if it is to fade")
  func merging() {
    for (first, second) in [(0, 0), (0, 5_000), (5_000, 0)] {
      var merged = sketch([1 << 33: 9, 5 << 40: 2], entries: first)
      merged.merge(sketch([1 << 33: 4, 5 << 40: 12, 3 << 50: 8], entries: second))
      #expect(merged.frequency(of: 1 << 33) == 9)
      #expect(merged.frequency(of: 5 << 40) == 12)
      #expect(merged.frequency(of: 3 << 50) == 8)
      #expect(merged.frequency(of: 77 << 30) == 0)
    }
    var merged = sketch([1 << 33: 3])
    merged.merge(sketch([1 << 33: 4, 5 << 40: 13]), isHalved: true)
    #expect(merged.frequency(of: 1 << 33) == 3)
    #expect(merged.frequency(of: 5 << 40) == 6)
  }
}

@Suite("LargestEntry", .timeLimit(.minutes(10)))
struct LargestEntryTests {
  @Test("bytes and shares, never more than the capacity nor less than nothing")
  func bytes() {
    #expect(LargestEntry.bytes(100).bytes(of: 1_000) == 100)
    #expect(LargestEntry.bytes(5_000).bytes(of: 1_000) == 1_000)
    #expect(LargestEntry.bytes(-1).bytes(of: 1_000) == 0)
    #expect(LargestEntry.default.bytes(of: 1_000) == 125)
    #expect(LargestEntry.share(0.1).bytes(of: 1 << 30) == 107_374_182)
    #expect(LargestEntry.share(1).bytes(of: .max) == .max)
    #expect(LargestEntry.share(2).bytes(of: 10) == 10)
    #expect(LargestEntry.share(.nan).bytes(of: 10) == 0)
    #expect(LargestEntry.share(0.99).bytes(of: .max) < .max)
    let literal: LargestEntry = 12
    #expect(literal == .bytes(12))
  }
}
