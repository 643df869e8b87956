extension FrequencySketch {
  /// Takes the larger of both counts for everything.
  ///
  /// - Parameter isHalved: whether what the other one counted weighs half: between two that go on
  ///   counting and merge again and again, an old count would otherwise never fade.
  package mutating func merge(_ other: FrequencySketch, isHalved: Bool = false) {
    let other = other.prepared(toMerge: words.count, isHalved: isHalved)
    merge(other, words: 0..<other.words.count)
  }

  /// The same sketch for `merge(_:words:)`, with at least so many words.
  package func prepared(toMerge count: Int, isHalved: Bool) -> FrequencySketch {
    var prepared = self
    prepared.grow(toWords: count)
    if isHalved { prepared.halve() }
    return prepared
  }

  /// The same for some of its words, so that a merge can be done a part at a time.
  ///
  /// - Parameter other: with at least as many words as this one.
  package mutating func merge(_ other: FrequencySketch, words range: Range<Int>) {
    grow(toWords: other.words.count)
    // One that has grown since has each of these words several times.
    for start in stride(from: 0, to: words.count, by: other.words.count) {
      for index in range.clamped(to: other.words.indices) {
        words[start + index] = Self.larger(words[start + index], other.words[index])
      }
    }
    raise(uses: other.uses)
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
