import ArgumentParser
import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// `httpcache purge`: removes responses, or invalidates them.
struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Remove responses, or end their lifetime.",
    discussion: """
      Takes effect at once in a server that runs on the same directory, also for responses that are still \
      arriving. A URL or prefix is one under which responses are stored, or one of the clients of the servers that \
      use the directory, or of the one that used it last. Works on one cache: the private \
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

  @Option(help: "Remove the responses of URLs that begin with this prefix; one without a path has /.")
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

  @Flag(help: "Keep the responses, and end their lifetime: they are stale then (RFC 9111, section 4.2.4).")
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
    let stores = try location.openStores()
    // Modes and times of encrypted responses are in the index as they are, whatever their key.
    let store: any CacheStore = isForOneMode && isByMetadata ? stores.disk : stores.usable
    let servers = DirectoryServers(location.path)
    let cache = makeCache(servers.known.first?.rules ?? CacheRules(mode: location.mode), store)
    let selected = try ExitStatus.reportingUsage { try selections(now: SystemClock().now, servers) }
    var count = 0
    var isCounted = true
    do {
      for selection in try await ownSelections(of: selected, in: store, stores.disk) {
        if soft {
          if let found = try await cache.expire(selection) { count += found } else { isCounted = false }
        } else if case .partition(let mode, let partition) = selection {
          count += try await makeCache(CacheRules(mode: mode), store).wipe(partition: partition)
        } else {
          count += try await cache.remove(selection)
        }
      }
    } catch let error as CacheError {
      throw ExitStatus.reporting(error)
    }
    await cache.flush()
    let what = isCounted ? HumanText.count(count, "response") : "all matching responses"
    Console.print(soft ? "expired \(what)" : "removed \(what)")
    if count == 0, isCounted, let hint = await hint(selected, store) {
      Console.report("httpcache: no response matches in \(location.path); \(hint)")
    }
  }

  private func makeCache(_ rules: CacheRules, _ store: any CacheStore) -> HTTPCache {
    HTTPCache(configuration: HTTPCache.Configuration(rules: rules), store: store)
  }

  private func hint(_ selections: [CacheSelection], _ store: any CacheStore) async -> String? {
    for selection in selections {
      if let hint = await location.hint(for: selection, in: store) { return hint }
    }
    return nil
  }

  /// Whether `--dir` and `--private` or `--shared` name one of the two caches of a directory.
  private var isForOneMode: Bool { location.directory != nil && location.modeFlag != nil }

  /// Whether no name of a response decides.
  private var isByMetadata: Bool { all || olderThan != nil }

  /// The entries to remove. With `--dir` and `--private` or `--shared`, the matching entries of that mode one by one,
  /// because a selection matches both modes. Responses that are arriving are overtaken in both modes: which keys they
  /// will have is unknown.
  private func ownSelections(
    of selections: [CacheSelection], in store: any CacheStore, _ disk: DiskStore
  ) async throws -> [CacheSelection] {
    guard isForOneMode, partition == nil else { return selections }
    var own: Set<CacheSelection> = []
    let isByVariant = olderThan != nil || group != nil
    // Overtake first: a response that is stored before that is then listed.
    if olderThan == nil { disk.overtake(.all) }
    for selection in selections {
      try await StoreListing.each(
        of: store, selection, mode: location.mode, includesSealed: isByMetadata
      ) { entry in
        // By age and by group, other variants of the key may not match.
        let (key, sequence) = (entry.record.key, entry.record.sequence)
        own.insert(isByVariant ? .variant(key, sequence: sequence) : .key(key))
        return true
      }
    }
    return Array(own)
  }

  func selections(now: Timestamp, _ servers: DirectoryServers) throws -> [CacheSelection] {
    if all { return [.all] }
    if let prefix { return try servers.selections(ofPrefix: prefix) }
    if let olderThan { return [.storedBefore(now.adding(.seconds(-olderThan.seconds)))] }
    if let group, let origin {
      return try servers.selections(ofGroup: group, origin: origin)
    }
    if let partition {
      let modes = location.listedMode.map { [$0] } ?? CacheMode.allCases
      return modes.map { .partition(mode: $0, partition) }
    }
    let targets = try urls.flatMap { try servers.targets(of: $0) }
    return DirectoryServers.distinct(targets).map { .target($0) }
  }
}

extension PurgeCommand {
  /// How long the command waits for the nodes.
  private static var patience: Duration { .seconds(5) }

  /// Adds the change to the log of the fleet, and reports which nodes have applied it; nil without `--fleet`.
  ///
  /// - Throws: `ExitCode` after a message.
  func purgeFleet() async throws -> FleetPurge.Progress? {
    guard fleet.fleet != nil else { return nil }
    let encryption = try location.encryptionKey.encryption()
    let place: FleetTier
    do throws(StartFailure) {
      guard let given = try fleet.tier(encryption: encryption) else { return nil }
      place = given
    } catch {
      throw error.reported()
    }
    let selections = try fleetSelections()
    let kind: SharedChange.Kind = soft ? .expire : partition == nil ? .remove : .wipe
    do throws(SharedTierError) {
      let purge = FleetPurge(tier: place.tier, kind: kind, selections: selections)
      let progress = try await purge.run(within: Self.patience)
      await place.tier.close()
      return progress
    } catch {
      await place.tier.close()
      throw ExitStatus.reporting(error, of: place)
    }
  }

  /// Prints which nodes have applied the change.
  ///
  /// - Throws: `ExitCode` if one has not.
  func report(_ progress: FleetPurge.Progress) throws {
    let (applied, all) = (progress.applied.count, progress.applied.count + progress.pending.count)
    let what = soft ? "expired" : "removed"
    guard all > 0 else {
      return Console.print("added to the log; no node told of itself in the last 10 seconds")
    }
    guard progress.pending.isEmpty else {
      Console.print("\(what) on \(applied) of \(HumanText.count(all, "node"))")
      let names = progress.pending.map(\.printableInLine).joined(separator: ", ")
      Console.report("httpcache: the change is in the log; not applied yet by \(names)")
      throw ExitStatus.timeout.code
    }
    Console.print("\(what) on \(applied) of \(HumanText.count(all, "node"))")
  }

  /// The entries on all nodes. `serve` shares those of shared caches alone.
  private func fleetSelections() throws -> [CacheSelection] {
    if let partition {
      return [.partition(mode: location.modeFlag == .private ? .private : .shared, partition)]
    }
    return try selections(now: SystemClock().now, DirectoryServers([]))
  }
}
