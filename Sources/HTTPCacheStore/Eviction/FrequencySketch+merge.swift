extension FrequencySketch {
  /// Takes the larger count of both sketches for each key.
  ///
  /// - Parameter isHalved: whether to halve the counts of `other`. Otherwise an old count would never fade
  ///   between two sketches that merge again and again.
  package mutating func merge(_ other: FrequencySketch, isHalved: Bool = false) {
    let other = other.prepared(toMerge: words.count, isHalved: isHalved)
    merge(other, words: 0..<other.words.count)
  }

  /// A copy to pass to `merge(_:words:)`, grown to at least `count` words.
  package func prepared(toMerge count: Int, isHalved: Bool) -> FrequencySketch {
    var prepared = self
    prepared.grow(toWords: count)
    if isHalved { prepared.halve() }
    return prepared
  }

  /// Merges only some words, so that a merge can be done in parts.
  ///
  /// - Parameter other: has at least as many words as this sketch.
  package mutating func merge(_ other: FrequencySketch, words range: Range<Int>) {
    grow(toWords: other.words.count)
    // A sketch that has grown since contains each of these words several times.
    for start in stride(from: 0, to: words.count, by: other.words.count) {
      for index in range.clamped(to: other.words.indices) {
        words[start + index] = Self.larger(words[start + index], other.words[index])
      }
    }
    raise(uses: other.uses)
  }

  // Compares 16 counters at once: first every second counter, each in its own byte, then the others.
  private static func larger(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let low: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    func bytes(_ first: UInt64, _ second: UInt64) -> UInt64 {
      let guards: UInt64 = 0x8080_8080_8080_8080
      // The guard bit of a byte stays set where the first counter is not less.
      let isNotLess = (((first | guards) &- second) & guards) >> 7
      let mask = isNotLess &* 0xFF
      return first & mask | second & ~mask
    }
    return bytes(first & low, second & low) | bytes(first >> 4 & low, second >> 4 & low) << 4
  }
}
