/// A generator of random numbers that a seed determines (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator. Equal seeds make equal numbers.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }

  /// A number from 0 to below `count`, which is at least 1.
  mutating func below(_ count: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(count)).high)
  }

  /// True with this probability.
  mutating func chance(_ probability: Double) -> Bool {
    Double(next() >> 11) * 0x1p-53 < probability
  }

  /// One of the elements, which are at least one.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
