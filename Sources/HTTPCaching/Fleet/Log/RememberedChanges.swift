/// The changes that a node has seen in the log of late, to add them again if the tier loses them. Bounded in number and
/// by age.
struct RememberedChanges: Sendable {
  struct Entry: Sendable {
    let change: SharedChange
    /// Where the node saw it last.
    var position: SharedPosition
    /// When the node saw it first, by the clock's `uptime`.
    let seen: Duration
  }

  private static let limit = 4_096
  private static let longest = Duration.seconds(600)

  /// The highest entry that was forgotten.
  private(set) var forgotten = ReadPosition.start
  private var entries: [String: Entry] = [:]
  private var order: [String] = []
  // The uids before this index were forgotten.
  private var first = 0

  /// Notes a change; one that is known gets the new position.
  mutating func note(_ change: SharedChange, at position: SharedPosition, uptime: Duration) {
    if entries[change.uid] != nil {
      entries[change.uid]?.position = position
      return
    }
    entries[change.uid] = Entry(change: change, position: position, seen: uptime)
    order.append(change.uid)
    while entries.count > Self.limit || isFirstOlder(than: uptime - Self.longest) { forgetFirst() }
  }

  private func isFirstOlder(than uptime: Duration) -> Bool {
    guard first < order.count, let entry = entries[order[first]] else { return false }
    return entry.seen < uptime
  }

  private mutating func forgetFirst() {
    if let entry = entries.removeValue(forKey: order[first]), entry.position > forgotten.position {
      forgotten = ReadPosition(SharedLogEntry(position: entry.position, change: entry.change))
    }
    first += 1
    if first > Self.limit {
      order.removeFirst(first)
      first = 0
    }
  }

  /// The entry of a uid.
  subscript(uid: String) -> Entry? { entries[uid] }

  /// All entries, in the order in which the node saw them first.
  var all: [Entry] { order[first...].compactMap { entries[$0] } }

  /// The highest position; nil without entries.
  var highest: SharedPosition? { entries.values.map(\.position).max() }
}
