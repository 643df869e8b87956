package import HTTPCacheSemantics

/// Tells a memory tier whether its copies of a store's responses are up to date, across processes.
///
/// A tier reads the generation, then the store, and keeps the generation with its copy, also if there was nothing to
/// copy. While the generation does not change, no response was stored, replaced, freshened, invalidated or removed. If
/// only its number of selections rises, the tier asks whether one of them selects its copy.
package protocol GenerationSource: AnyObject, Sendable {
  /// The generation of a key. Costs no more than hashing the key and reading memory.
  func generation(of key: CacheKey) -> Generation

  /// Whether a selection that was noted since may include responses of a key. True for all keys of a class of scopes.
  ///
  /// - Parameters:
  ///   - groups: the groups of the responses (RFC 9875).
  ///   - selections: of a generation of the key with the same number of changes as now.
  func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool

  /// Whether the generations rise at all: a store over one that tells of no changes cannot tell of them either.
  var tellsOfChanges: Bool { get }

  /// Whether nothing is stored for a key now, as far as that is known without reading. Costs as little.
  func isKnownAbsent(_ key: CacheKey) -> Bool
}

/// The changes of a key that a store tells of. Neither number has the same value again.
package struct Generation: Sendable, Equatable {
  /// Rises after each commit that stores, freshens, invalidates or removes a response of the key. It may also rise for
  /// other keys.
  package var changes: UInt64
  /// The number of the last selection of entries of several keys that were invalidated or removed: rises for all keys.
  package var selections: UInt64

  package init(changes: UInt64, selections: UInt64 = 0) {
    self.changes = changes
    self.selections = selections
  }
}

extension GenerationSource {
  package var tellsOfChanges: Bool { true }
}
