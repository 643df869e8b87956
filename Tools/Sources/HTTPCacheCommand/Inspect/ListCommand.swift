import ArgumentParser
import HTTPCaching

/// `httpcache ls`: lists what is stored.
struct ListCommand: AsyncParsableCommand {
  /// What a listing is sorted by.
  enum Order: String, CaseIterable, ExpressibleByArgument {
    case url, size, freshness, used, stored
  }

  /// `--stale` and `--fresh`.
  enum FreshnessFlag: String, EnumerableFlag {
    case stale, fresh
  }

  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List what is stored.",
    discussion: "With --json one object per line; sizes in bytes, times in seconds since 1970.")

  @Argument(help: "Only URLs that begin with this.")
  var prefix: String?

  @Option(help: "Only this partition.")
  var partition: String?

  @Flag(help: "Only stale or only fresh responses.")
  var freshness: FreshnessFlag?

  @Option(name: .customLong("larger-than"), help: "Only responses larger than this, such as 1M.")
  var largerThan: ByteSize?

  @Option(
    name: .customLong("unused-for"),
    help: "Only responses not used for this long: days, or an age such as 12h.")
  var unusedFor: AgeArgument?

  @Option(help: "Sort: url, size and stored ascending, used with the latest last.")
  var sort: Order?

  @Flag(help: "Sort the other way round.")
  var reverse = false

  @Option(help: "At most so many.")
  var limit: Int?

  @Flag(help: "As JSON, one object per line.")
  var json = false

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is a number from 1 on") }
  }

  func run() async throws {
    let store = try location.openStore()
    let now = SystemClock().now
    var entries: [CacheEntry] = []
    try await StoreListing.each(of: store, selection, mode: location.listedMode) { entry in
      guard matches(entry, now: now) else { return true }
      entries.append(entry)
      return sort != nil || reverse || limit.map { entries.count < $0 } ?? true
    }
    if let sort { entries.sort { Self.precedes($0, $1, by: sort, now: now) } }
    if reverse { entries.reverse() }
    if let limit { entries.removeLast(max(0, entries.count - limit)) }
    guard !json else {
      for entry in entries { try Console.printJSON(EntryJSON(entry, now: now)) }
      return
    }
    guard !entries.isEmpty else { return Console.report("httpcache: nothing matches") }
    Self.table(entries, now: now).lines.forEach(Console.print)
    // Of a damaged index they may be anything.
    let bytes = entries.reduce(Int64(0)) { $0 + min($1.size, .max - $0) }
    Console.report("\(HumanText.count(entries.count, "response")), \(HumanText.bytes(bytes))")
  }

  private var selection: CacheSelection { prefix.map { .prefix(TargetURL.normalizedPrefix($0)) } ?? .all }

  private func matches(_ entry: CacheEntry, now: Timestamp) -> Bool {
    if let partition, entry.record.key.partition != partition { return false }
    if let largerThan, entry.size <= largerThan.bytes { return false }
    if let unusedFor, now - entry.lastUsed < unusedFor.seconds { return false }
    guard let freshness else { return true }
    return EntryFreshness(entry.record.response, now: now).isFresh == (freshness == .fresh)
  }

  private static func precedes(
    _ left: CacheEntry, _ right: CacheEntry, by order: Order, now: Timestamp
  ) -> Bool {
    switch order {
    case .url: left.record.key.target < right.record.key.target
    case .size: left.size < right.size
    case .used: left.lastUsed < right.lastUsed
    case .stored: left.record.response.responseTime < right.record.response.responseTime
    case .freshness:
      EntryFreshness(left.record.response, now: now).order
        < EntryFreshness(right.record.response, now: now).order
    }
  }

  private static func table(_ entries: [CacheEntry], now: Timestamp) -> TextTable {
    var table = TextTable(
      ["SIZE", "STATUS", "FRESHNESS", "LAST USED", "URL"],
      [.trailing, .trailing, .leading, .leading, .leading])
    let variants = Dictionary(entries.map { ($0.record.key, 1) }, uniquingKeysWith: +)
    for entry in entries {
      var url = entry.record.key.target
      if !entry.record.key.partition.isEmpty { url += " [\(entry.record.key.partition)]" }
      // What tells the variants of one URL apart (RFC 9111 §4.1).
      let nominated = entry.record.response.nominated
      if variants[entry.record.key, default: 0] > 1, !nominated.isEmpty {
        url += " {" + nominated.map { "\($0.name.rawName): \($0.value.text)" }.joined(separator: ", ") + "}"
      }
      if !entry.record.isComplete { url += " (partial)" }
      table.add([
        HumanText.bytes(entry.size), "\(entry.record.response.head.status.code)",
        EntryFreshness(entry.record.response, now: now).text,
        "\(HumanText.duration(now - entry.lastUsed)) ago", url,
      ])
    }
    return table
  }
}
