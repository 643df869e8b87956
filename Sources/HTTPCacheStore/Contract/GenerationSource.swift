package import HTTPCacheSemantics

/// Tells a memory tier whether its copies of a store's responses are up to date, across processes.
///
/// A tier reads the generation, then the store, and keeps the generation with its copy, also if there was nothing to
/// copy. While the generation does not change, no response was stored, replaced, freshened, invalidated or removed.
package protocol GenerationSource: AnyObject, Sendable {
  /// A number that rises after each commit that stores, freshens, invalidates or removes a response of a
  /// key. It may also rise for other keys. It never has the same value again. Costs no more than hashing the
  /// key and reading memory.
  func generation(of key: CacheKey) -> UInt64

  /// Whether the generations rise at all: a store over one that tells of no changes cannot tell of them either.
  var tellsOfChanges: Bool { get }

  /// Whether nothing is stored for a key now, as far as that is known without reading. Costs as little.
  func isKnownAbsent(_ key: CacheKey) -> Bool
}

extension GenerationSource {
  package var tellsOfChanges: Bool { true }
}
