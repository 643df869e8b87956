import HTTPCacheLibC

/// Decides which entries a cache keeps: priorities by frequency and size in coarse buckets, and an admission
/// test for new entries. Pure arithmetic; the stores in memory and on disk use it, each with its own order of eviction.
///
/// An entry's priority is `inflation + frequency^(4/3) / size^exponent`, computed when it is stored and at
/// each use. The exponent of the frequency is above 1 because that closes more of the gap between LRU and the
/// best possible policy on all tested traces with sizes (`make simulate`). `inflation` rises to the priority
/// of each evicted entry, so that entries that are no longer used fall behind (greedy-dual). Entries of
/// similar worth, within half an octave, share a bucket. Because `inflation` never falls, the order of use
/// within a bucket is also the order of priority: the next entry to evict is the least recently used entry of
/// some bucket. Finding it means reading one entry of each bucket, of which there are fewer than two hundred.
///
/// A new entry is admitted if no victim that it displaces has a higher priority than its own: it must not be
/// the next entry to evict. The frequency in its priority counts its earlier misses, so an entry that is
/// requested again gets in. A refusal raises `inflation` like an eviction: entries of a full cache that were
/// popular once are overtaken by new entries unless they are used.
///
/// The store that keeps the order stores bucket and priority with each entry, and calls:
/// - at a look-up, hit or miss (see `CacheStore.peek`): `recordUse(hash:)`;
/// - when storing and at a hit: `bucket(frequency:size:)` and `priority(bucket:)`, then moves the entry to
///   the end of its bucket; after storing, `expect(entries:)`;
/// - when bytes must be freed: `admissionBound` for the new entry, which is refused if an entry of higher priority
///   would have to go; then `evicted(priority:)` for each evicted entry, or for the new entry if it is refused.
public struct EvictionPolicy: Sendable {
  /// The weight of the size: 1 maximises hits, 0 ignores the size; between them, bytes count too.
  public let exponent: Double

  /// Added to every new priority; never falls.
  public private(set) var inflation: Double

  /// Counts how often each key is looked up.
  private var sketch = FrequencySketch()

  private static let frequencyWeight = 4.0 / 3
  // For each frequency: its weight times its binary logarithm.
  private static let frequencyWorths = (0...FrequencySketch.ceiling).map {
    frequencyWeight * log2(Double(max(1, $0)))
  }

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - exponent: see `exponent`; 1 for memory, 0.5 for disk.
  ///   - inflation: the lowest priority of an order that an earlier process left; the new one continues there.
  public init(exponent: Double, inflation: Double = 0) {
    self.exponent = exponent
    self.inflation = inflation
  }

  /// Makes room to count the look-ups of a cache with this number of entries. Call it after storing an entry.
  public mutating func expect(entries: Int) { sketch.expect(entries: entries) }

  /// Counts a look-up, hit or miss.
  public mutating func recordUse(hash: UInt64) {
    sketch.recordUse(of: hash)
  }

  /// How often a key was looked up lately, from 0 to 15.
  public func frequency(of hash: UInt64) -> Int { sketch.frequency(of: hash) }

  /// The bucket of an entry; higher is more worth keeping.
  ///
  /// - Parameters:
  ///   - frequency: from `frequency(of:)`, up to 15; 0 counts as 1.
  ///   - size: in bytes; a value below 1 counts as 1.
  /// - Returns: twice the binary logarithm of `frequency^(4/3) / size^exponent`, rounded down; equal in every
  ///   process.
  public func bucket(frequency: Int, size: Int64) -> Int32 {
    let worth = Self.frequencyWorths[max(0, min(FrequencySketch.ceiling, frequency))]
    let value = worth - exponent * log2(Double(max(1, size)))
    return Int32(max(-1_000, min(1_000, (2 * value).rounded(.down))))
  }

  /// The priority of an entry that is appended to a bucket now.
  public func priority(bucket: Int32) -> Double {
    let bucket = Int(max(-2_000, min(2_000, bucket)))
    let octave = Double(sign: .plus, exponent: bucket >> 1, significand: 1)
    return inflation + (bucket & 1 == 0 ? octave : octave * 2.0.squareRoot())
  }

  /// Notes that an entry of this priority was evicted, or a new entry of this priority refused.
  public mutating func evicted(priority: Double) { inflation = max(inflation, priority) }

  /// The highest priority that a new entry may displace: its own. Only a full cache refuses entries: otherwise none is
  /// displaced. A full cache of entries that were used once admits every entry of their size.
  ///
  /// - Parameters:
  ///   - candidateHash: the hash of the new entry's key, whose look-up was counted already.
  ///   - size: the size of the new entry in bytes.
  public func admissionBound(candidateHash: UInt64, size: Int64) -> Double {
    priority(bucket: bucket(frequency: frequency(of: candidateHash), size: size))
  }
}
