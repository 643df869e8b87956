public import HTTPCacheSemantics

/// Tells a memory tier whether its copies of a store's responses are still what the store has, across
/// processes.
///
/// A tier reads the generation, then the store, and keeps the generation with its copy: as long as the
/// generation is the same, nothing it copied was replaced, freshened, invalidated or removed.
public protocol GenerationSource: AnyObject, Sendable {
  /// A number that rises after each commit that replaces, freshens, invalidates or removes a response
  /// whose key has this hash; it may rise for others as well. It never takes a value twice. Costs no
  /// more than reading memory.
  func generation(of hash: UInt64) -> UInt64

  /// The same for a key, for stores that know it under another hash. Unless a store says otherwise it is
  /// that of its hash.
  func generation(of key: CacheKey) -> UInt64
}

extension GenerationSource {
  /// That of the key's hash.
  public func generation(of key: CacheKey) -> UInt64 { generation(of: key.hash) }
}
