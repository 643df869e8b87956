import HTTPTypes

/// Overrides, and the ones that match a request. A class, so that rules without overrides are cheap to copy.
final class OverrideSet: Sendable, Hashable {
  let overrides: [RuleOverride]
  /// Whether `matched` is known for a request.
  let isResolved: Bool
  /// The indices of the overrides that match, in order.
  let matched: [Int]
  /// The overrides with effects on responses, resolved for other readings of the target, if they are not those of
  /// `matched`.
  let readings: [OverrideSet]
  /// Equal for equal effects on responses, in every reading; 0 without any.
  let responseFingerprint: UInt64
  /// Equal for equal effects on the key; 0 without any.
  let keyFingerprint: UInt64
  /// Whether names in `Vary` are ignored.
  let ignoresVary: Bool
  /// Whether directives of the request are ignored.
  let ignoresRequestDirectives: Bool
  /// The field that names a cache item.
  let alias: HTTPField.Name?

  /// The set for requests that no override matches, shared so that such requests allocate nothing.
  private let unmatched: OverrideSet?

  /// Overrides that are not resolved for a request.
  convenience init(_ overrides: [RuleOverride]) {
    self.init(
      overrides, matched: [], readings: [],
      unmatched: OverrideSet(overrides, matched: [], readings: [], unmatched: nil))
  }

  func resolved(for request: HTTPRequest, target: String) -> OverrideSet {
    var matched: [Int] = []
    var mayHaveReadings = false
    var text = target
    text.withUTF8 { octets in
      let path = TargetReading.pathStart(octets) ?? octets.count
      for index in overrides.indices where overrides[index].concerns(request) {
        switch overrides[index].match(request, target: target, octets, path: path) {
        case .exact: matched.append(index)
        case .covered: if overrides[index].responseFingerprint != 0 { mayHaveReadings = true }
        case .none: break
        }
      }
      if TargetReading.hasOthers(octets, path: path) { mayHaveReadings = true }
    }
    let others = mayHaveReadings ? readings(of: request, target: target, matched) : []
    if matched.isEmpty, others.isEmpty, let unmatched { return unmatched }
    return OverrideSet(
      overrides, matched: matched,
      readings: others.map { OverrideSet(overrides, matched: $0, readings: [], unmatched: nil) },
      unmatched: nil)
  }

  /// The indices of the overrides with effects on responses for each reading of a target, if they are not those of the
  /// requested path.
  ///
  /// An origin may read a path with too many readings as any other: each override may then match or not.
  ///
  /// - Parameter matched: the indices for the requested path.
  private func readings(of request: HTTPRequest, target: String, _ matched: [Int]) -> [[Int]] {
    let concerned = overrides.indices.filter {
      overrides[$0].responseFingerprint != 0 && overrides[$0].concerns(request)
    }
    if concerned.isEmpty { return [] }
    var found = [matched.filter { overrides[$0].responseFingerprint != 0 }]
    func add(_ set: [Int]) { if !found.contains(set) { found.append(set) } }
    if let readings = TargetReading.all(of: request, target: target) {
      for reading in readings {
        let isRequested = reading.request == nil
        add(
          concerned.filter { index in
            (isRequested && matched.contains(index))
              || reading.withOctets { overrides[index].covers($0, path: $1, reading.request) }
          })
      }
    } else {
      add([])
      for index in concerned { add([index]) }
    }
    return Array(found.dropFirst())
  }

  /// - Parameter unmatched: set for overrides that are not resolved.
  private init(_ overrides: [RuleOverride], matched: [Int], readings: [OverrideSet], unmatched: OverrideSet?)
  {
    self.overrides = overrides
    self.matched = matched
    self.readings = readings
    self.unmatched = unmatched
    isResolved = unmatched == nil
    var response: UInt64 = 0
    var key: UInt64 = 0
    var ignoresVary = false
    var ignoresRequestDirectives = false
    var alias: HTTPField.Name?
    for index in matched {
      response = Self.combined(response, overrides[index].responseFingerprint)
      key = Self.combined(key, overrides[index].keyFingerprint)
      for effect in overrides[index].effects {
        switch effect {
        case .ignoringVary: ignoresVary = true
        case .ignoringRequestDirectives: ignoresRequestDirectives = true
        case .alias(let name): alias = name
        case .lifetime, .heuristics, .window, .ignoring, .adding,
          .cacheControl, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
          .sharingDespite, .stores, .pins, .droppingQuery, .keepingQuery, .ignoringQuery, .sortingQuery,
          .lowercasingPath:
          break
        }
      }
    }
    for reading in readings {
      // Unlike that of one reading, the fingerprint of several is never 0.
      response = Self.combined(response &+ 1, max(1, reading.responseFingerprint))
    }
    responseFingerprint = response
    keyFingerprint = key
    self.ignoresVary = ignoresVary
    self.ignoresRequestDirectives = ignoresRequestDirectives
    self.alias = alias
  }

  static func == (lhs: OverrideSet, rhs: OverrideSet) -> Bool {
    lhs === rhs
      || (lhs.isResolved == rhs.isResolved && lhs.matched == rhs.matched
        && lhs.readings == rhs.readings && lhs.overrides == rhs.overrides)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(matched)
    hasher.combine(overrides)
  }

  private static func combined(_ first: UInt64, _ second: UInt64) -> UInt64 {
    if second == 0 { return first }
    return max(1, (first ^ second) &* 0x9E37_79B1_85EB_CA87 ^ (first &<< 31 | first &>> 33))
  }
}
