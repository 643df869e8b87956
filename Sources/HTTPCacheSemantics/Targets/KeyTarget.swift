/// A target URI while effects make a key of it. Parts that no effect changes keep their spelling.
struct KeyTarget {
  private var path: Substring
  private var items: [Substring]?

  init(_ target: String) {
    if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
      path = target[..<mark]
      items = target[target.utf8.index(after: mark)...]
        .split(separator: "&", omittingEmptySubsequences: false)
    } else {
      path = target[...]
    }
  }

  var target: String {
    guard let items else { return String(path) }
    return path + "?" + items.joined(separator: "&")
  }

  mutating func apply(_ effect: RuleEffect) {
    switch effect {
    case .droppingQuery(let names): keepItems { !Self.isNamed($0, names) }
    case .keepingQuery(let names): keepItems { Self.isNamed($0, names) }
    case .ignoringQuery: items = nil
    case .sortingQuery: sortItems()
    case .lowercasingPath: lowercasePath()
    // `CacheAlias` makes the key of an alias; the other effects are none on the key.
    case .alias, .lifetime, .heuristics, .window, .ignoring, .ignoringVary,
      .adding, .cacheControl, .allowsStaleWhileRevalidate, .allowsStaleIfError,
      .allowsStaleWhenDisconnected, .sharingDespite, .stores, .pins, .ignoringRequestDirectives:
      break
    }
  }

  private mutating func keepItems(_ isKept: ([UInt8]) -> Bool) {
    guard let all = items else { return }
    let kept = all.filter { isKept(Self.name($0)) }
    items = kept.isEmpty ? nil : kept
  }

  private mutating func sortItems() {
    guard let all = items else { return }
    let named = all.enumerated().map { (name: Self.name($0.element), offset: $0.offset) }
    items = named.sorted { first, second in
      first.name == second.name
        ? first.offset < second.offset : first.name.lexicographicallyPrecedes(second.name)
    }.map { all[$0.offset] }
  }

  /// Leaves percent-encoded octets unchanged: a normalised target has their digits in upper case.
  private mutating func lowercasePath() {
    var octets = Array(path.utf8)
    var index = 0
    while index < octets.count {
      if octets[index] == UInt8(ascii: "%") {
        index += 3
      } else {
        octets[index] = octets[index].lowercased
        index += 1
      }
    }
    path = String(decoding: octets, as: UTF8.self)[...]
  }

  private static func name(_ item: Substring) -> [UInt8] {
    FormParameter.decoded(Array(item.utf8.prefix { $0 != UInt8(ascii: "=") })[...])
  }

  private static func isNamed(_ name: [UInt8], _ names: Set<String>) -> Bool {
    names.contains { pattern in
      let octets = pattern.utf8
      return octets.last == UInt8(ascii: "*")
        ? name.starts(with: octets.dropLast()) : name.elementsEqual(octets)
    }
  }
}
