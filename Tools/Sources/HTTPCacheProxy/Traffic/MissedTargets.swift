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

  /// - Parameter capacity: the number of targets.
  init(capacity: Int = 256) { self.capacity = capacity }

  /// The targets, in no order.
  var targets: [MissedTarget] { Array(rows.values) }

  /// Whether a request with this outcome counts as missed.
  static func counts(_ outcome: String) -> Bool { !otherOutcomes.contains(outcome) }

  /// Adds a request.
  mutating func add(_ entry: AccessLog.Entry) {
    let key = MissedTarget.Key(
      host: String(entry.host.prefix(Self.longestHost)),
      target: String(entry.target.prefix(Self.longestTarget)))
    if rows[key] == nil, rows.count >= capacity,
      let least = rows.min(by: { $0.value.count < $1.value.count })
    {
      rows[least.key] = nil
      rows[key] = MissedTarget(key, count: least.value.count)
    }
    rows[key, default: MissedTarget(key)].add(entry)
  }
}
