/// Estimates how often a key was used recently, in a fixed amount of memory: a count-min sketch of 4-bit
/// counters that are halved after a number of uses per expected entry (the TinyLFU idea).
///
/// It also counts keys that are not stored, which an admission test needs. The estimate is never below the true
/// count since the last halvings, up to its ceiling of 15. Growing keeps all counts. A sketch takes 64 bytes for each
/// expected entry, at least 8 KiB and at most 4 MiB.
package struct FrequencySketch: Sendable {
  /// The highest frequency that it can report.
  package static let ceiling = 15

  // Each word holds 16 counters of 4 bits; one use raises one counter in each of four words.
  private var words = [UInt64](repeating: 0, count: leastWords)
  private var mask: UInt64 { UInt64(truncatingIfNeeded: words.count &- 1) }
  private var uses = 0

  // With too few words, keys that were used once look popular; with too many, old uses are remembered too long.
  private static let wordsPerEntry = 8
  private static let usesPerWord = 4
  private static let mostWords = 1 << 19
  private static let leastWords = 1 << 10

  /// Makes the smallest sketch.
  package init() {}

  /// Grows if there are more entries than it has words for; it never shrinks.
  package mutating func expect(entries: Int) {
    while words.count < Self.mostWords, words.count / Self.wordsPerEntry < entries {
      // A key's words in the larger table hold what its words in the smaller one held.
      words += words
      uses *= 2
    }
  }

  /// The estimated frequency, from 0 to `ceiling`.
  package func frequency(of hash: UInt64) -> Int {
    let spread = Self.spread(hash)
    var least = UInt64(Self.ceiling)
    for row in 0..<4 {
      let place = place(of: spread, row: row)
      least = min(least, words[place.word] >> place.shift & 0xF)
    }
    return Int(least)
  }

  /// Counts a use.
  package mutating func recordUse(of hash: UInt64) {
    let spread = Self.spread(hash)
    var wasRaised = false
    for row in 0..<4 {
      let place = place(of: spread, row: row)
      guard words[place.word] >> place.shift & 0xF < UInt64(Self.ceiling) else { continue }
      words[place.word] += 1 << place.shift
      wasRaised = true
    }
    guard wasRaised else { return }
    uses += 1
    if uses >= Self.usesPerWord * words.count { halve() }
  }

  // Counts must fade, or entries that were popular once could never be displaced.
  mutating func halve() {
    for index in words.indices { words[index] = words[index] >> 1 & 0x7777_7777_7777_7777 }
    uses /= 2
  }

  private func place(of spread: UInt64, row: Int) -> (word: Int, shift: UInt64) {
    // All four counters are in one block of eight words, which is one cache line. Each row has two words of the
    // block, and 5 bits of the hash choose one of their 32 counters.
    let choice = spread >> (5 * UInt64(row) + 44)
    let word = (spread & mask & ~7) | UInt64(row) << 1 | choice >> 4 & 1
    return (Int(word), (choice & 0xF) << 2)
  }

  private static func spread(_ hash: UInt64) -> UInt64 {
    var value = hash &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 32
    value = value &* 0xD6E8_FEB8_6659_FD93
    return value ^ value >> 32
  }
}
