import ArgumentParser
import HTTPCaching

/// `httpcache purge`: removes responses, or invalidates them.
struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Remove responses, or mark them to be validated first.",
    discussion: """
      Takes effect at once in a server that runs on the same directory. Works on one cache: the private \
      one of the user, or the one that --shared or --dir names. If nothing is removed, says which other \
      cache has the responses, and leaves them there.

      With --fleet, works on all nodes of a fleet instead, and waits until each has applied the change:

        httpcache purge --fleet redis://redis.example.com --prefix https://example.com/news/

      Exit status:
      \(ExitStatus.help([
        .success: "done, even if nothing matched", .failure: "the server of the fleet refuses",
        .unreachable: "the server of the fleet cannot be reached",
        .timeout: "a node of the fleet has not applied the change yet", .newerFormat: nil,
        .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Argument(help: "Remove the responses of these URLs.", transform: TargetURL.init(parsing:))
  var urls: [TargetURL] = []

  @Option(help: "Remove the responses of URLs that begin with this prefix.")
  var prefix: String?

  @Option(
    name: .customLong("older-than"),
    help: "Remove responses not stored or freshened for this long: days, or an age such as 12h.",
    transform: AgeArgument.parsed)
  var olderThan: AgeArgument?

  @Option(help: "Remove a group of responses of --origin (RFC 9875).")
  var group: String?

  @Option(help: "The origin of --group, such as https://example.com.", transform: TargetURL.init(parsing:))
  var origin: TargetURL?

  @Option(help: "Remove a partition, such as the account of a user; no file has any byte of it afterwards.")
  var partition: String?

  @Flag(help: "Remove all responses.")
  var all = false

  @Flag(help: "Keep the responses, but validate them before any use (RFC 9111, section 4.4).")
  var soft = false

  @OptionGroup var location: CacheLocation

  @OptionGroup(title: "Fleet") var fleet: FleetOptionGroup

  func validate() throws {
    if (group == nil) != (origin == nil) { throw ValidationError("--group and --origin go together") }
    let kinds = [
      !urls.isEmpty, prefix != nil, olderThan != nil, group != nil, partition != nil, all,
    ]
    guard kinds.filter({ $0 }).count == 1 else {
      throw ValidationError(
        "give one of: URLs, --prefix, --older-than, --group with --origin, --partition, --all")
    }
    if fleet.fleet != nil {
      if location.directory != nil { throw ValidationError("--fleet and --dir exclude each other.") }
      if olderThan != nil {
        throw ValidationError("--older-than concerns one directory: --fleet cannot be used.")
      }
    }
    if prefix?.isEmpty == true { throw ValidationError("an empty --prefix matches all responses: use --all") }
  }

  func run() async throws {
    if let progress = try await purgeFleet() { return try report(progress) }
    let store = try location.openStore()
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(rules: CacheRules(mode: location.mode)), store: store)
    var count = 0
    var isCounted = true
    do {
      for selection in try await selections(in: store) {
        if soft {
          if let found = try await cache.invalidate(selection) { count += found } else { isCounted = false }
        } else if case .partition(let mode, let partition) = selection {
          let cache = HTTPCache(
            configuration: HTTPCache.Configuration(rules: CacheRules(mode: mode)), store: store)
          count += try await cache.wipe(partition: partition)
        } else {
          count += try await cache.remove(selection)
        }
      }
    } catch let error as CacheError {
      throw ExitStatus.reporting(error)
    }
    await cache.flush()
    let what = isCounted ? HumanText.count(count, "response") : "all matching responses"
    Console.print(soft ? "invalidated \(what)" : "removed \(what)")
    if count == 0, isCounted, let hint = await hint(store) {
      Console.report("httpcache: no response matches in \(location.path); \(hint)")
    }
  }

  private func hint(_ store: any CacheStore) async -> String? {
    for selection in selections(now: SystemClock().now) {
      if let hint = await location.hint(for: selection, in: store) { return hint }
    }
    return nil
  }

  /// The entries to remove. With `--dir` and `--private` or `--shared`, the matching entries of that mode one by one,
  /// because a selection matches both modes.
  private func selections(in store: any CacheStore) async throws -> [CacheSelection] {
    let selections = selections(now: SystemClock().now)
    guard location.directory != nil, location.modeFlag != nil, partition == nil else { return selections }
    var keys: Set<CacheKey> = []
    for selection in selections {
      try await StoreListing.each(of: store, selection, mode: location.mode) { entry in
        keys.insert(entry.record.key)
        return true
      }
    }
    return keys.map { .key($0) }
  }

  func selections(now: Timestamp) -> [CacheSelection] {
    if all { return [.all] }
    if let prefix { return [.prefix(TargetURL.normalizedPrefix(prefix))] }
    if let olderThan { return [.storedBefore(now.adding(.seconds(-olderThan.seconds)))] }
    if let group, let origin { return [.group(origin: origin.normalized, name: group)] }
    if let partition {
      let modes = location.listedMode.map { [$0] } ?? CacheMode.allCases
      return modes.map { .partition(mode: $0, partition) }
    }
    return urls.flatMap { $0.targets.map { .target($0) } }
  }
}
