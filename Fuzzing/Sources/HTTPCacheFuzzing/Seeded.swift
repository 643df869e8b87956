/// A generator with a seed, so that a failure can be repeated (SplitMix64).
///
/// Not `SeededGenerator` of HTTPCacheTesting: fuzzers link the rules and the codecs only, which are compiled for them
/// again, and neither the engine nor the test kit.
public struct Seeded: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator; equal seeds make equal numbers.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number below `limit`, which is above 0.
  mutating func below(_ limit: Int) -> Int {
    Int(truncatingIfNeeded: next() % UInt64(limit))
  }

  /// True once in this many calls on average.
  mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }

  /// One of the elements; there is at least one.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
