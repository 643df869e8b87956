package import HTTPCacheSemantics

/// A class of responses that an invalidation may match. A response that is not stored yet is overtaken if one
/// of its scopes was invalidated after its ticket.
package enum InvalidationScope: Sendable, Hashable {
  case everything
  case target(String)
  case origin(String)
  case partition(mode: CacheMode, String)
  case group(origin: String, name: String)
  /// Any group of an origin.
  case groups(origin: String)

  /// The narrowest scopes that include all matches of a selection. Empty for a selection that cannot match a
  /// running request: one stored response, or responses by age.
  package static func all(of selection: CacheSelection) -> [InvalidationScope] {
    switch selection {
    case .all: return [.everything]
    case .partition(let mode, let name): return [.partition(mode: mode, name)]
    case .key(let key): return [.target(key.target)]
    case .target(let target): return [.target(target)]
    case .prefix(let prefix):
      let origin = CacheKey.origin(of: prefix)
      // A prefix that ends with the authority also matches longer authorities.
      let isWithinOrigin = !origin.isEmpty && origin.utf8.count < prefix.utf8.count
      return [isWithinOrigin ? .origin(origin) : .everything]
    case .site(let origin, _, _): return [.origin(origin)]
    case .group(let origin, let name):
      return [.group(origin: origin, name: name), .groups(origin: origin)]
    case .variant, .storedSince, .storedBefore, .unusedSince: return []
    }
  }

  /// The hash by which scopes share counters. Two scopes with one hash cost a validation, never a stale answer.
  package var hash: UInt64 {
    switch self {
    case .everything: 0
    case .target(let target): Self.hash(target, seed: 1)
    case .origin(let origin): Self.hash(origin, seed: 2)
    case .partition(let mode, let name): Self.hash(name, seed: 3 &+ UInt64(mode.rawValue) << 8)
    case .group(let origin, let name): Self.hash(name, seed: Self.hash(origin, seed: 4))
    case .groups(let origin): Self.hash(origin, seed: 5)
    }
  }

  /// Whether any scope of a response fulfils a condition; `everything` is not checked.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - groups: the groups of the response; nil before they are known.
  ///   - requestTarget: the target of the request, if it differs from the key's.
  ///   - condition: takes the hash of each scope.
  package static func contains(
    of key: CacheKey, groups: [String]?, requestTarget: String?, where condition: (UInt64) -> Bool
  ) -> Bool {
    let origin = key.origin
    if condition(target(key.target).hash) || condition(self.origin(origin).hash)
      || condition(partition(mode: key.mode, key.partition).hash)
    {
      return true
    }
    if let groups {
      for group in groups where condition(self.group(origin: origin, name: group).hash) { return true }
    } else if condition(self.groups(origin: origin).hash) {
      return true
    }
    guard let requestTarget, requestTarget != key.target else { return false }
    return condition(target(requestTarget).hash)
      || condition(self.origin(CacheKey.origin(of: requestTarget)).hash)
  }

  private static func hash(_ text: String, seed: UInt64) -> UInt64 {
    var text = text
    return text.withUTF8 { XXH64.hash(UnsafeRawBufferPointer($0), seed: seed) }
  }
}
