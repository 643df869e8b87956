import ArgumentParser
import HTTPCacheProxy
import HTTPCaching

/// `httpcache ls`: lists entries.
struct ListCommand: AsyncParsableCommand {
  /// The sort key of a listing.
  enum Order: String, CaseIterable, ExpressibleByArgument {
    case url, size, freshness, used, stored
  }

  /// `--stale` and `--fresh`.
  enum FreshnessFlag: String, EnumerableFlag {
    case stale, fresh
  }

  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List stored responses.",
    discussion: """
      A prefix without a scheme is one with http and with https. It is one of the URLs under which responses are \
      stored, or of the URLs of the clients of the servers that use the directory, or of the one that used it last. \
      With --json one object per line; sizes in bytes, times in \
      seconds since 1970. Where no response matches, nothing is printed, and the status is 1, as that of grep.

      Exit status:
      \(ExitStatus.help([
        .success: "at least one response is listed", .failure: "no response matches",
        .newerFormat: nil, .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Argument(help: "List only URLs that begin with this prefix.")
  var prefix: String?

  @Option(help: "List only this partition.")
  var partition: String?

  @Flag(help: "List only stale or only fresh responses.")
  var freshness: FreshnessFlag?

  @Option(
    name: .customLong("larger-than"), help: "List only responses larger than this, such as 1M.",
    transform: ByteSize.parsed)
  var largerThan: ByteSize?

  @Option(
    name: .customLong("unused-for"),
    help: "List only responses not used for this long: days, or an age such as 12h.",
    transform: AgeArgument.parsed)
  var unusedFor: AgeArgument?

  @Option(help: "Sort ascending: the largest, or the latest, is last.")
  var sort: Order?

  @Flag(help: "Reverse the order.")
  var reverse = false

  @Option(parsing: .unconditional, help: "Maximum number of responses.")
  var limit: Int?

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @OptionGroup var seeds: SeedOptionGroup

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1 (got \(limit))") }
  }

  func run() async throws {
    // With --seed, the list is that of the archive or folder, whether there is a cache or not.
    let store = try seeds.paths.isEmpty ? location.openStore() : seeds.store()
    let now = SystemClock().now
    let servers = seeds.paths.isEmpty ? DirectoryServers(location.path) : DirectoryServers([])
    let rules = { (entry: CacheEntry) in servers.rules(of: entry.record.key) }
    let state = { (entry: CacheEntry) in EntryFreshness(entry.record, rules: rules(entry), now: now) }
    var entries: [CacheEntry] = []
    let mode = seeds.paths.isEmpty ? location.listedMode : nil
    for selection in try ExitStatus.reportingUsage({ try selections(servers) }) {
      try await StoreListing.each(of: store, selection, mode: mode) { entry in
        guard matches(entry, state, now: now) else { return true }
        entries.append(entry)
        return sort != nil || reverse || limit.map { entries.count < $0 } ?? true
      }
    }
    if let sort { entries.sort { Self.precedes($0, $1, by: sort, state) } }
    if reverse { entries.reverse() }
    if let limit { entries.removeLast(max(0, entries.count - limit)) }
    guard !entries.isEmpty else {
      if !seeds.paths.isEmpty {
        Console.report("httpcache: no response matches in \(seeds.paths.joined(separator: ", "))")
      } else if let hint = await location.hint(for: selection, in: store) {
        Console.report("httpcache: no response matches in \(location.path); \(hint)")
      }
      throw ExitStatus.failure.code
    }
    guard !json else {
      for entry in entries { try Console.printJSON(EntryJSON(entry, rules: rules(entry), now: now)) }
      return
    }
    Self.table(entries, state, now: now).lines.forEach(Console.print)
    // In a damaged index the values may be anything.
    let bytes = entries.reduce(Int64(0)) { $0 + min($1.size, .max - $0) }
    Console.report("\(HumanText.count(entries.count, "response")), \(HumanText.bytes(bytes))")
  }

  /// The selections of all listed entries. No entry is in two of them.
  ///
  /// - Throws: `ValidationError` if the rules of the server of the prefix are unknown.
  private func selections(_ servers: DirectoryServers) throws -> [CacheSelection] {
    guard let prefix else { return [.all] }
    let prefixes = TargetURL.prefixes(prefix)
    // A prefix that is no URL is left to the store, which throws an error that names it.
    let places = try prefixes.filter { (try? TargetURL(parsing: $0)) != nil }
      .flatMap { try servers.prefixes(for: $0) }
    return StoredPlace.distinct(prefixes: prefixes + places).map { .prefix($0) }
  }

  private var selection: CacheSelection {
    prefix.flatMap { TargetURL.prefixes($0).first }.map { .prefix($0) } ?? .all
  }

  private func matches(_ entry: CacheEntry, _ state: (CacheEntry) -> EntryFreshness, now: Timestamp) -> Bool {
    if let partition, entry.record.key.partition != partition { return false }
    if let largerThan, entry.size <= largerThan.bytes { return false }
    if let unusedFor, now.duration(since: entry.lastUsed).components.seconds < unusedFor.seconds {
      return false
    }
    guard let freshness else { return true }
    return state(entry).isFresh == (freshness == .fresh)
  }

  private static func precedes(
    _ left: CacheEntry, _ right: CacheEntry, by order: Order, _ state: (CacheEntry) -> EntryFreshness
  ) -> Bool {
    switch order {
    case .url: left.record.key.target < right.record.key.target
    case .size: left.size < right.size
    case .used: left.lastUsed < right.lastUsed
    case .stored: left.record.response.responseTime < right.record.response.responseTime
    case .freshness:
      state(left).order < state(right).order
    }
  }

  private static func table(
    _ entries: [CacheEntry], _ state: (CacheEntry) -> EntryFreshness, now: Timestamp
  ) -> TextTable {
    var table = TextTable(
      ["SIZE", "STATUS", "FRESHNESS", "LAST USED", "URL"],
      [.trailing, .trailing, .leading, .leading, .leading])
    let variants = Dictionary(entries.map { ($0.record.key, 1) }, uniquingKeysWith: +)
    for entry in entries {
      var url = entry.record.key.target
      if !entry.record.key.partition.isEmpty { url += " [\(entry.record.key.partition)]" }
      // The nominated fields, which distinguish the variants of one URL (RFC 9111 §4.1).
      let nominated = entry.record.response.nominated
      if variants[entry.record.key, default: 0] > 1, !nominated.isEmpty {
        url += " {" + nominated.map { "\($0.name.rawName): \($0.value.text)" }.joined(separator: ", ") + "}"
      }
      if !entry.record.isComplete { url += " (partial)" }
      if entry.record.isSeed { url += " (seed)" }
      table.add([
        HumanText.bytes(entry.size), "\(entry.record.response.head.status.code)",
        state(entry).text,
        "\(HumanText.duration(now.duration(since: entry.lastUsed).components.seconds)) ago", url,
      ])
    }
    return table
  }
}
