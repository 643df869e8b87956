import HTTPCacheSemantics
import Synchronization

/// Collects the bodies of all responses that a store has for a key, and then copies them into the memory tier
/// above. Bodies that the tier has already, or that come with their record, are collected at once; others
/// when a reader reads them to the end.
final class Promotion: Sendable {
  /// The key of the responses.
  let key: CacheKey
  private let generation: Generation
  private let tier: TieredStore
  private let below: [StoredVariant]
  /// Whether all bodies are small enough to be copied.
  let isPossible: Bool
  // nil once the promotion can no longer succeed.
  private let bodies: Mutex<[BodyBytes?]?>

  /// - Parameters:
  ///   - below: all variants that the store has for the key.
  ///   - group: the tier's variants; a body is reused if the sequence numbers are equal.
  ///   - generation: read before `below`.
  init(
    _ key: CacheKey, of below: [StoredVariant], over group: MemoryGroup?, generation: Generation,
    tier: TieredStore
  ) {
    self.key = key
    // Skip responses for which memory has a newer one.
    let own = (group?.variants ?? []).filter(\.record.isMemoryOnly)
    let below = below.filter { variant in
      !own.contains { $0.record.replaces(variant.record) }
    }
    self.below = below
    self.generation = generation
    self.tier = tier
    let limit = tier.longestCopy
    isPossible = below.allSatisfy { variant in
      guard variant.record.isComplete, let length = variant.record.bodyLength else { return false }
      return length <= limit
    }
    guard isPossible else {
      bodies = Mutex(nil)
      return
    }
    var known: [UInt64: BodyBytes] = [:]
    for copy in group?.variants ?? [] where !copy.record.isMemoryOnly {
      known[copy.record.sequence] = (copy.body as? MemoryBody)?.bytes
    }
    // A body of another length belongs to another response, even if the sequence number is equal.
    bodies = Mutex(
      below.map { variant in
        known[variant.record.sequence].flatMap { Int64($0.count) == variant.record.bodyLength ? $0 : nil }
      })
  }

  /// Whether the store has nothing for the key.
  var isEmpty: Bool { below.isEmpty }

  /// The store's variants; their bodies are collected when they are read.
  var variants: [StoredVariant] {
    guard let bodies = bodies.withLock({ $0 }), bodies.contains(where: { $0 == nil }) else {
      return below
    }
    return below.indices.map { index in
      let variant = below[index]
      if bodies[index] != nil { return variant }
      return StoredVariant(
        record: variant.record, body: PromotingBody(variant.body, index: index, promotion: self))
    }
  }

  /// Adds the body of a response by its sequence number.
  func deliver(_ bytes: BodyBytes, ofSequence sequence: UInt64) {
    guard let index = below.firstIndex(where: { $0.record.sequence == sequence }) else { return }
    take(bytes, at: index)
  }

  /// Adds a body that was read, and copies everything if no body is missing.
  func deliver(_ bytes: BodyBytes, at index: Int) {
    take(bytes, at: index)
    adoptIfComplete()
  }

  /// Copies everything into memory if no body is missing, or if the missing ones are in memory below.
  func adoptIfComplete() {
    guard var found = bodies.withLock({ $0 }) else { return }
    // A single body waits for its reader; opening it is only worthwhile if other bodies were collected.
    if found.contains(where: { $0 != nil }) {
      for index in found.indices where found[index] == nil {
        found[index] = try? below[index].body.open().bytesInMemory
      }
    }
    let complete = found.compactMap { $0 }
    guard complete.count == below.count else { return }
    let isFirst = bodies.withLock { bodies in
      defer { bodies = nil }
      return bodies != nil
    }
    // Selections since then are compared before the copies are used.
    guard isFirst, generation.changes == tier.generationBelow(of: key).changes else { return }
    tier.memory.adopt(
      key, zip(below.map(\.record), complete).map { ($0, $1) }, generation: generation)
  }

  private func take(_ bytes: BodyBytes, at index: Int) {
    guard Int64(bytes.count) == below[index].record.bodyLength else { return }
    bodies.withLock { $0?[index] = bytes }
  }
}
