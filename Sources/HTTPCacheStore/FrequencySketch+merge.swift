extension FrequencySketch {
  /// Takes the larger of both counts for everything.
  ///
  /// - Parameter isHalved: whether what the other one counted weighs half: between two that go on
  ///   counting and merge again and again, an old count would otherwise never fade.
  package mutating func merge(_ other: FrequencySketch, isHalved: Bool = false) {
    var other = other
    other.grow(toWords: words.count)
    grow(toWords: other.words.count)
    if isHalved { other.halve() }
    let merged = zip(words, other.words).map { Self.larger($0, $1) }
    replace(words: merged, uses: max(uses, other.uses))
  }

  // Of 16 counters at once: every second one, in bytes of its own, then the others.
  private static func larger(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let low: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    func bytes(_ first: UInt64, _ second: UInt64) -> UInt64 {
      let guards: UInt64 = 0x8080_8080_8080_8080
      // The guard bit of a byte stays where the first is not less.
      let isNotLess = (((first | guards) &- second) & guards) >> 7
      let mask = isNotLess &* 0xFF
      return first & mask | second & ~mask
    }
    return bytes(first & low, second & low) | bytes(first >> 4 & low, second >> 4 & low) << 4
  }
}
