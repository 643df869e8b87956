#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Which entries a cache keeps: priorities by frequency and size in coarse buckets, and a test that a
/// newcomer has to pass. Pure arithmetic; both tiers use it, each with an order of its own.
///
/// An entry's priority is `inflation + frequency^(4/3) / size^exponent`, computed when it is stored and
/// at each use. Frequency weighs more than in proportion because that closes more of the gap between
/// LRU and the best possible, on all traces with sizes that were tried (`make simulate`). `inflation`
/// rises to the priority of what is evicted, so that entries which are no longer used fall behind
/// (greedy-dual). Entries with about the same worth, within half an octave, share a bucket. Since
/// `inflation` never falls, the entries of one bucket are in order of priority when they are in order
/// of use: the next to evict is the least recently used entry of some bucket, and finding it means
/// looking at one entry of each bucket, of which there are less than two hundred.
///
/// A newcomer is admitted if no victim it displaces has a higher priority than its own: it must not be
/// what would be evicted next. The frequency in its priority counts its earlier look-ups that found
/// nothing, so what is asked for again gets in. A refusal raises `inflation` like an eviction: however
/// well regarded the entries of a full cache once were, newcomers overtake them unless they are used.
///
/// Whoever keeps the order stores bucket and priority with each entry and does:
/// - at a look-up, hit or miss: `recordUse(hash:)`;
/// - when storing and at a hit: `bucket(frequency:size:)` and `priority(bucket:)`, and puts the entry
///   last in its bucket; when it has stored, `expect(entries:)`;
/// - when room is needed: takes the entries with the lowest priorities as victims and asks `admits`;
///   calls `evicted(priority:)` for each one that goes, or for the newcomer if it is refused.
public struct EvictionPolicy: Sendable {
  /// An entry that would have to go.
  public struct Victim: Sendable, Hashable {
    /// The priority it was given when it was last used.
    public let priority: Double
    /// Its size in bytes.
    public let size: Int64

    /// Makes a victim.
    public init(priority: Double, size: Int64) {
      self.priority = priority
      self.size = size
    }
  }

  /// How much size counts: 1 keeps what gives most hits, 0 ignores size, between them bytes weigh too.
  public let exponent: Double

  /// What is added to every new priority; never falls.
  public private(set) var inflation: Double

  /// How often what was looked up.
  private var sketch = FrequencySketch(expectedEntries: 0)

  private static let frequencyWeight = 4.0 / 3
  // Of each frequency: its weight times its binary logarithm.
  private static let frequencyWorths = (0...FrequencySketch.ceiling).map {
    frequencyWeight * log2(Double(max(1, $0)))
  }

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - exponent: see `exponent`; 1 for memory, 0.5 for disk.
  ///   - inflation: where an order that outlived its process goes on: the lowest priority in it.
  public init(exponent: Double, inflation: Double = 0) {
    self.exponent = exponent
    self.inflation = inflation
  }

  /// Makes room to remember the look-ups of a cache with so many entries; call it when one is stored.
  public mutating func expect(entries: Int) { sketch.expect(entries: entries) }

  /// Counts a look-up, whether it found something or not.
  public mutating func recordUse(hash: UInt64) {
    sketch.recordUse(of: hash)
  }

  /// How often a key was looked up lately, from 0 to 15.
  public func frequency(of hash: UInt64) -> Int { sketch.frequency(of: hash) }

  /// The bucket of an entry; higher is more worth keeping.
  ///
  /// - Parameters:
  ///   - frequency: as `frequency(of:)` tells, up to 15; 0 counts as 1.
  ///   - size: in bytes; what is below 1 counts as 1.
  /// - Returns: twice the binary logarithm of `frequency^(4/3) / size^exponent`, rounded down; the
  ///   same in every process.
  public func bucket(frequency: Int, size: Int64) -> Int32 {
    let worth = Self.frequencyWorths[max(0, min(FrequencySketch.ceiling, frequency))]
    let value = worth - exponent * log2(Double(max(1, size)))
    return Int32(max(-1_000, min(1_000, (2 * value).rounded(.down))))
  }

  /// The priority of an entry that is put last into a bucket now.
  public func priority(bucket: Int32) -> Double {
    let bucket = Int(max(-2_000, min(2_000, bucket)))
    let octave = Double(sign: .plus, exponent: bucket >> 1, significand: 1)
    return inflation + (bucket & 1 == 0 ? octave : octave * 2.0.squareRoot())
  }

  /// Takes note that an entry of this priority was evicted, or a newcomer refused.
  public mutating func evicted(priority: Double) { inflation = max(inflation, priority) }

  /// Whether a newcomer may displace the victims.
  ///
  /// It only matters where something must go: with room to spare there are no victims, and everything
  /// is admitted. In a full cache of entries that were used once, so is everything of their size.
  ///
  /// - Parameters:
  ///   - candidateHash: the hash of the newcomer's key, whose look-up was counted already.
  ///   - size: of the newcomer in bytes.
  ///   - victims: the entries with the lowest priorities that together free what the newcomer needs.
  public func admits(candidateHash: UInt64, size: Int64, over victims: [Victim]) -> Bool {
    let bound = admissionBound(candidateHash: candidateHash, size: size)
    return victims.allSatisfy { $0.priority <= bound }
  }

  /// The highest priority that a newcomer may displace: its own.
  public func admissionBound(candidateHash: UInt64, size: Int64) -> Double {
    priority(bucket: bucket(frequency: frequency(of: candidateHash), size: size))
  }
}
