import HTTPCacheSemantics
package import HTTPCacheStore

extension CacheSelection {
  /// The selection with its prefix, or its target, as keys have it.
  ///
  /// - Throws: `CacheError` with `invalidRequest` for a prefix or a target that is no absolute `http` or `https` URL,
  ///   which would select nothing.
  package func checked() throws(CacheError) -> CacheSelection {
    switch self {
    case .prefix(let url):
      guard let prefix = TargetURI.normalized(url) else {
        throw CacheError(.invalidRequest, "a prefix must be an absolute http or https URL: \(url)")
      }
      return .prefix(prefix)
    case .target(let url):
      guard let target = TargetURI.normalized(url) else {
        throw CacheError(.invalidRequest, "not an absolute URL: \(url)")
      }
      return .target(target)
    case .all, .partition, .key, .variant, .site, .group, .storedSince, .unusedSince, .storedBefore:
      return self
    }
  }
}
