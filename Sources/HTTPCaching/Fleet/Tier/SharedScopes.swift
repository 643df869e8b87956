public import HTTPCacheSemantics
public import HTTPCacheStore

/// The position of the last change of each class of scopes: targets, origins, partitions, groups.
///
/// A response is *overtaken* if one of its scopes was changed after the position that its ticket tells. The classes are
/// fixed, so a change may overtake a response that it does not select: that costs a request to the origin, never a
/// stale answer.
public struct SharedScopes: Sendable {
  /// The number of classes: 0 is the class of everything.
  public static let classCount = 8_192

  private var positions: [Int: SharedPosition] = [:]

  /// Makes scopes that were never changed.
  public init() {}

  /// The classes that a change of a selection raises, each once.
  ///
  /// A selection by time raises the class of everything, because a tier knows no times of single nodes.
  public static func classes(of selection: CacheSelection) -> [Int] {
    var scopes = InvalidationScope.all(of: selection)
    if scopes.isEmpty { return [0] }
    switch selection {
    case .target(let target): scopes.append(queries(of: target))
    case .key(let key): scopes.append(queries(of: key.target))
    case .all, .partition, .variant, .prefix, .site, .group, .storedSince, .storedBefore, .unusedSince: break
    }
    var classes: [Int] = []
    for scope in scopes {
      let number = scope == .everything ? 0 : Self.number(scope.hash)
      if !classes.contains(number) { classes.append(number) }
    }
    return classes
  }

  /// The scope of all queries of a path: `No-Vary-Search` may give a response under one of them to requests for another,
  /// and the node that changes one may not know that.
  private static func queries(of target: String) -> InvalidationScope {
    .target(SearchVariance.path(of: target) + "?")
  }

  private static func number(_ hash: UInt64) -> Int { 1 + Int((hash >> 24) % UInt64(classCount - 1)) }

  /// Notes a change.
  ///
  /// - Parameters:
  ///   - change: the change; nil for one that cannot be read, which counts as an invalidation of everything.
  ///   - position: where it is in the log.
  public mutating func note(_ change: SharedChange?, at position: SharedPosition) {
    for number in change?.scopeClasses ?? [0] {
      positions[number] = max(positions[number] ?? .start, position)
    }
  }

  /// Takes over the positions of others where they are higher.
  public mutating func merge(_ others: [Int: SharedPosition]) { positions.merge(others) { max($0, $1) } }

  /// Whether a change after a position may select a response.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - groups: its groups (RFC 9875); nil if they are not known.
  ///   - requestTarget: the target of the request, if it differs from the key's.
  ///   - ticket: the position before the request was sent.
  public func isOvertaken(
    _ key: CacheKey, groups: [String]?, requestTarget: String?, since ticket: SharedPosition
  ) -> Bool {
    if let everything = positions[0], everything > ticket { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: requestTarget) { hash in
      isChanged(hash, since: ticket)
    }
  }

  /// Whether a change after a position may select a response, under any of the targets that it answers by its
  /// `No-Vary-Search`. Parameters as above.
  func isOvertaken(_ record: CacheRecord, requestTarget: String?, since ticket: SharedPosition) -> Bool {
    if isOvertaken(record.key, groups: record.groups, requestTarget: requestTarget, since: ticket) {
      return true
    }
    guard !SearchVariance(record.response.head.headerFields).isDefault else { return false }
    return isChanged(Self.queries(of: record.key.target).hash, since: ticket)
  }

  private func isChanged(_ hash: UInt64, since ticket: SharedPosition) -> Bool {
    positions[Self.number(hash)].map { $0 > ticket } ?? false
  }
}
