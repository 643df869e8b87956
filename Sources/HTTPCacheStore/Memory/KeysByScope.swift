import HTTPCacheSemantics

/// The keys of entries by their target and their groups: an unsafe request invalidates these (RFC 9111 §4.4, RFC 9875),
/// and must not take longer the more entries there are.
struct KeysByScope: Sendable {
  /// Nearly every target has one key. An attacker may give a target many, so no array is searched.
  private enum Keys {
    case one(CacheKey)
    case several(Set<CacheKey>)
  }

  private var keys: [UInt64: Keys] = [:]

  var isEmpty: Bool { keys.isEmpty }

  /// The keys whose entries a selection may include; nil if it selects neither by target nor by group.
  func candidates(for selection: CacheSelection) -> [CacheKey]? {
    switch selection {
    case .target(let target): keys(of: .target(target))
    case .group(let origin, let name): keys(of: .group(origin: origin, name: name))
    case .all, .partition, .key, .variant, .prefix, .site, .storedSince, .storedBefore, .unusedSince: nil
    }
  }

  private func keys(of scope: InvalidationScope) -> [CacheKey] {
    switch keys[scope.hash] {
    case nil: []
    case .one(let key): [key]
    case .several(let keys): Array(keys)
    }
  }

  /// Notes that the entries of a key have changed; nil is none.
  mutating func update(_ key: CacheKey, from before: MemoryGroup?, to after: MemoryGroup?) {
    let isTargetKept = (before == nil) == (after == nil)
    let (old, new) = (before?.names ?? [], after?.names ?? [])
    if isTargetKept, old == new { return }
    if !isTargetKept { change(key, .target(key.target), isAdded: before == nil) }
    let origin = key.origin
    for name in old.subtracting(new) { change(key, .group(origin: origin, name: name), isAdded: false) }
    for name in new.subtracting(old) { change(key, .group(origin: origin, name: name), isAdded: true) }
  }

  private mutating func change(_ key: CacheKey, _ scope: InvalidationScope, isAdded: Bool) {
    let hash = scope.hash
    guard isAdded else { return remove(key, hash) }
    switch keys[hash] {
    case nil: keys[hash] = .one(key)
    case .one(let other): keys[hash] = .several([other, key])
    case .several(var several):
      keys[hash] = nil
      several.insert(key)
      keys[hash] = .several(several)
    }
  }

  private mutating func remove(_ key: CacheKey, _ hash: UInt64) {
    switch keys[hash] {
    case nil: return
    case .one(let only): if only == key { keys[hash] = nil }
    case .several(var several):
      keys[hash] = nil
      several.remove(key)
      keys[hash] = several.isEmpty ? nil : .several(several)
    }
  }

  /// Releases memory that the table no longer needs.
  mutating func compact() {
    var compacted = [UInt64: Keys](minimumCapacity: keys.count)
    for (hash, value) in keys { compacted[hash] = value }
    keys = compacted
  }
}

extension MemoryGroup {
  /// The names of the groups (RFC 9875) of all variants.
  fileprivate var names: Set<String> {
    variants.reduce(into: []) { if !$1.record.groups.isEmpty { $0.formUnion($1.record.groups) } }
  }
}
