/// The most missed targets. A bounded table (Metwally's Space-Saving): a new target takes the place of the one with the
/// least requests, and its count as uncertainty, so that a target with many requests is never missing.
struct MissedTargets: Sendable {
  private static let longestTarget = 1_024
  private static let longestHost = 255
  /// Outcomes of requests that the cache answered, or that it has no part in.
  private static let otherOutcomes = Set(
    [RequestOutcome.hit, .stale, .validated, .shared, .tunnel, .own].map(\.rawValue))

  private let capacity: Int
  private var rows: [MissedTarget.Key: MissedTarget] = [:]
  /// Targets that had the least requests, `least`, when all were last looked at.
  private var rare: [MissedTarget.Key] = []
  private var least: Int64 = 0

  /// - Parameter capacity: the number of targets.
  init(capacity: Int = 256) { self.capacity = capacity }

  /// The targets, in no order.
  var targets: [MissedTarget] { Array(rows.values) }

  /// Whether a request with this outcome counts as missed.
  static func counts(_ outcome: String) -> Bool { !otherOutcomes.contains(outcome) }

  private static func cut(_ text: String, after count: Int) -> String {
    text.utf8.count <= count ? text : String(text.prefix(count))
  }

  /// Adds a request.
  mutating func add(_ entry: AccessLog.Entry) {
    let key = MissedTarget.Key(
      host: Self.cut(entry.host, after: Self.longestHost),
      target: Self.cut(entry.target, after: Self.longestTarget))
    if rows.count >= capacity, rows[key] == nil, let rarest = takeRarest() {
      rows[rarest] = nil
      rows[key] = MissedTarget(key, count: least)
    }
    rows[key, default: MissedTarget(key)].add(entry)
  }

  /// A target with the least requests. No count falls, so all are looked at only when all that had the least have more,
  /// or are gone.
  private mutating func takeRarest() -> MissedTarget.Key? {
    while true {
      if let key = rare.popLast() {
        if rows[key]?.count == least { return key }
        continue
      }
      guard let fewest = rows.values.lazy.map(\.count).min() else { return nil }
      least = fewest
      rare = rows.filter { $0.value.count == fewest }.map(\.key)
    }
  }
}
