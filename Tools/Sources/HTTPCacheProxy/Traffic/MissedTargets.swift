/// The most missed targets. A bounded table (Metwally's Space-Saving): a new target takes the place of the one with the
/// least requests, and its count as uncertainty, so that a target with many requests is never missing.
struct MissedTargets: Sendable {
  private static let longestTarget = 1_024
  private static let longestHost = 255
  /// Outcomes of requests that the cache answered, or could not have answered, whatever it stores.
  private static let otherOutcomes = Set(
    [
      RequestOutcome.hit, .stale, .validated, .shared, .unsatisfiable, .pass, .tunnel, .own, .purge, .refused,
      .badRequest, .loop, .noRoute,
    ].flatMap { [$0.rawValue, $0.aborted] })
  /// The methods that a cache answers (RFC 9110 §9.2.3, RFC 10008 §2.7).
  private static let methods: Set = ["GET", "HEAD", "QUERY"]

  private let capacity: Int
  private var rows: [MissedTarget] = []
  /// The count of each row, apart from it, so that the least is found fast.
  private var counts: [Int64] = []
  /// The row of each target.
  private var places: [MissedTarget.Key: Int] = [:]

  /// - Parameter capacity: the number of targets.
  init(capacity: Int = 256) { self.capacity = capacity }

  /// The targets, in no order.
  var targets: [MissedTarget] { rows }

  /// Whether a request counts as missed.
  static func counts(_ entry: AccessLog.Entry) -> Bool {
    !otherOutcomes.contains(entry.outcome) && methods.contains(entry.method)
  }

  private static func cut(_ text: String, after count: Int) -> String {
    text.utf8.count <= count ? text : String(text.prefix(count))
  }

  /// Adds a request.
  mutating func add(_ entry: AccessLog.Entry) {
    let key = MissedTarget.Key(
      host: Self.cut(entry.host, after: Self.longestHost),
      target: Self.cut(entry.target, after: Self.longestTarget))
    let place = places[key] ?? makePlace(for: key)
    counts[place] += 1
    rows[place].add(entry)
  }

  /// A new row, or that of the target with the least requests.
  private mutating func makePlace(for key: MissedTarget.Key) -> Int {
    guard rows.count >= capacity, let least = counts.min(), let place = counts.firstIndex(of: least) else {
      places[key] = rows.count
      rows.append(MissedTarget(key))
      counts.append(0)
      return rows.count - 1
    }
    places[rows[place].key] = nil
    places[key] = place
    rows[place] = MissedTarget(key, count: least)
    return place
  }
}
