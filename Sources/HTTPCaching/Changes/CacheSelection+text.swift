import HTTPCacheSemantics
package import HTTPCacheStore

extension CacheSelection {
  /// A few words for people, as in a log.
  package var text: String {
    switch self {
    case .all: "all entries"
    case .partition(_, let name): "partition \(name.isEmpty ? "without a name" : name)"
    case .key(let key), .variant(let key, _): key.target
    case .target(let target): target
    case .prefix(let prefix): "\(prefix)*"
    case .site(let origin, _, _): origin
    case .group(let origin, let name): "\(origin) group \(name)"
    case .storedSince(let time): "entries stored since \(time.httpDate)"
    case .unusedSince(let time): "entries unused since \(time.httpDate)"
    case .storedBefore(let time): "entries stored before \(time.httpDate)"
    }
  }
}
