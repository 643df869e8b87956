import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The uses of an answer that is sent again without a look-up. The store is told of them when the answer is released, so
/// that a popular answer takes no lock that event loops share.
final class RepeatedUses: Sendable {
  /// The generation of the key before the answer was looked up.
  let generation: Generation
  private let key: CacheKey
  private let time: Timestamp
  private let counter: any UseCounter
  private let count = Atomic<Int>(0)
  private let lastCompared: Atomic<UInt64>

  /// - Parameters:
  ///   - generation: read before the answer was looked up.
  ///   - time: the time of all uses.
  init(of key: CacheKey, since generation: Generation, at time: Timestamp, countedBy counter: any UseCounter)
  {
    self.generation = generation
    self.key = key
    self.time = time
    self.counter = counter
    lastCompared = Atomic(generation.selections)
  }

  deinit {
    // The look-up that found the answer has counted the first use.
    let more = min(count.load(ordering: .relaxed) - 1, FrequencySketch.ceiling)
    if more > 0 { counter.recordUses([KeyUses(of: key, count: more, last: time)]) }
  }

  /// The number of the last selection that is known not to include the answer's responses (`AnswerMaker.isUnchanged`).
  var compared: UInt64 { lastCompared.load(ordering: .relaxed) }

  /// Notes that no selection up to a number includes them.
  func didCompare(upTo selections: UInt64) { lastCompared.max(selections, ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}
