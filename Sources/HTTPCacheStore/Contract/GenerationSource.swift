public import HTTPCacheSemantics

/// Tells a memory tier whether its copies of a store's responses are still what the store has, across
/// processes.
///
/// A tier reads the generation, then the store, and keeps the generation with its copy: as long as the
/// generation is the same, nothing it copied was replaced, freshened, invalidated or removed.
public protocol GenerationSource: AnyObject, Sendable {
  /// A number that rises after each commit that replaces, freshens, invalidates or removes a response
  /// of a key; it may rise for other keys as well. It never takes a value twice. Costs no more than hashing
  /// the key and reading memory.
  func generation(of key: CacheKey) -> UInt64
}
