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

  /// The highest entry that was seen, or taken for read, and is not known any more.
  private(set) var forgotten = ReadPosition.start
  private var entries: [String: Entry] = [:]
  private var order: [String] = []

  /// Notes a change; one that is known gets the new position.
  mutating func note(_ change: SharedChange, at position: SharedPosition, uptime: Duration) {
    if entries[change.uid] != nil {
      entries[change.uid]?.position = position
      return
    }
    entries[change.uid] = Entry(change: change, position: position, seen: uptime)
    order.append(change.uid)
    var count = 0
    while let entry = entries[order[count]],
      entries.count > Self.limit || entry.seen < uptime - Self.longest
    {
      entries[order[count]] = nil
      if entry.position > forgotten.position {
        forgotten = ReadPosition(SharedLogEntry(position: entry.position, change: entry.change))
      }
      count += 1
    }
    order.removeFirst(count)
  }

  /// Notes the last entry of those that the node takes for read without knowing them.
  mutating func note(unknown read: ReadPosition) {
    if read.position > forgotten.position, !entries.values.contains(where: { $0.position == read.position }) {
      forgotten = read
    }
  }

  /// The entry of a uid.
  subscript(uid: String) -> Entry? { entries[uid] }

  /// All entries, in the order in which the node saw them first.
  var all: [Entry] { order.compactMap { entries[$0] } }

  /// The highest position; nil without entries.
  var highest: SharedPosition? { entries.values.map(\.position).max() }
}
