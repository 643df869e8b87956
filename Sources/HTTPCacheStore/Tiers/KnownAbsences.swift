import HTTPCacheSemantics
import Synchronization

/// Keys for which a store had nothing, as of a generation (`GenerationSource`): the store is not asked again until the
/// generation changes.
///
/// Keys share places by their hashes, and the last one has the place: another one costs a look-up, never a wrong answer.
final class KnownAbsences: @unchecked Sendable {
  // @unchecked Sendable because the words are only read and written by atomic operations, and released in deinit.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  /// 64 KiB.
  private static let count = 8_192

  init() {
    words = .allocate(capacity: Self.count)
    for index in 0..<Self.count { (words + index).initialize(to: Atomic(0)) }
  }

  deinit { words.deallocate() }

  private func index(_ hash: UInt64) -> Int { Int((hash >> 24) % UInt64(Self.count)) }

  /// Differs between any two generations of one hash.
  private func word(_ hash: UInt64, _ generation: UInt64) -> UInt64 {
    hash ^ (generation &* 0x9E37_79B9_7F4A_7C15)
  }

  /// Notes that nothing was stored for a key.
  ///
  /// - Parameter generation: read before the store.
  func note(_ key: CacheKey, generation: UInt64) {
    words[index(key.processHash)].store(word(key.processHash, generation), ordering: .relaxed)
  }

  /// Whether nothing is stored for a key.
  func contains(_ key: CacheKey, generation: UInt64) -> Bool {
    words[index(key.processHash)].load(ordering: .relaxed) == word(key.processHash, generation)
  }
}
