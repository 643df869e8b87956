import HTTPCacheProxy

/// The rules that overrides lift (`sharing-despite`), by the beginnings of their patterns.
///
/// Keeps for each rule and each part of a target only the shortest beginnings, sorted. A beginning is then compared with
/// two of them, however many overrides a file has.
struct LiftedRules {
  /// The rules that an override lifts, and the beginnings of its patterns.
  typealias Override = (names: [String], beginnings: [PatternBeginning])

  /// By the name of the rule.
  private(set) var texts: [String: [PatternBeginning.Part: [String]]]

  init(_ overrides: [Override]) {
    var all: [String: [PatternBeginning.Part: [String]]] = [:]
    for override in overrides {
      for name in override.names {
        for beginning in override.beginnings {
          all[name, default: [:]][beginning.part, default: []].append(beginning.text)
        }
      }
    }
    texts = all.mapValues { parts in parts.mapValues { StoredPlace.distinct(prefixes: $0) } }
  }

  /// The rules of overrides that may match a target that an override with these beginnings matches. Parts of different
  /// kinds are not compared. Has the rules of some overrides that never match the same target, because only the
  /// beginnings of patterns are compared: a file that works must not be refused.
  func names(for beginnings: [PatternBeginning]) -> Set<String> {
    var names: Set<String> = []
    for (name, parts) in texts where beginnings.contains(where: { Self.meets($0, parts) }) {
      names.insert(name)
    }
    return names
  }

  /// Whether a text begins with `beginning`, or `beginning` begins with a text.
  private static func meets(
    _ beginning: PatternBeginning, _ parts: [PatternBeginning.Part: [String]]
  ) -> Bool {
    if parts.keys.contains(where: { $0 != beginning.part }) { return true }
    let texts = parts[beginning.part] ?? []
    // The index of the first text that is not less.
    var (low, high) = (0, texts.count)
    while low < high {
      let middle = (low + high) / 2
      if texts[middle] < beginning.text { low = middle + 1 } else { high = middle }
    }
    if low < texts.count, texts[low].hasPrefix(beginning.text) { return true }
    return low > 0 && beginning.text.hasPrefix(texts[low - 1])
  }
}
