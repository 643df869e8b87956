import ArgumentParser
import HTTPCacheDisk
import HTTPCaching

/// `httpcache stats`: totals and hit rates.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show totals and hit rates over the life of the cache, its usage and capacity.",
    discussion: """
      Exit status:
      \(ExitStatus.help([.success: "shown", .newerFormat: nil, .cacheUnavailable: nil, .usage: nil]))
      """)

  @Flag(help: "Print JSON, one object.")
  var json = false

  @OptionGroup var seeds: SeedOptionGroup

  @OptionGroup var location: CacheLocation

  /// The figures as JSON.
  struct JSON: Encodable {
    var directory: String
    var responses: Int
    var diskBytes: Int64
    var hits: Int64
    var validated: Int64
    var misses: Int64
    var stores: Int64
    var evictions: Int64
    var hitBytes: Int64
    var originBytes: Int64
    var capacity: Int64
    var minFree: Int64
    var indexBytes: Int64
    var logBytes: Int64
    var bodyBytes: Int64
    var writingBytes: Int64
    var otherBytes: Int64
    var seeds: Int
  }

  func run() async throws {
    // The usage on disk does not depend on the key.
    let store = try location.openStores().disk
    let counts: CacheCounts
    let room: DiskUsage
    let settings: DirectorySettings
    do {
      counts = try await store.counts()
      room = try store.diskUsage()
      settings = try store.settings()
    } catch {
      throw ExitStatus.reporting(error)
    }
    let usage = store.usage
    let sources = try seeds.open()
    guard !json else {
      return try Console.printJSON(
        JSON(
          directory: location.path, responses: usage.diskEntries, diskBytes: usage.diskBytes,
          hits: counts.hits, validated: counts.validated, misses: counts.misses,
          stores: counts.stores, evictions: counts.evictions, hitBytes: counts.hitBytes,
          originBytes: counts.originBytes, capacity: settings.capacity,
          minFree: settings.minimumFreeSpace, indexBytes: room.index,
          logBytes: room.log, bodyBytes: room.bodies, writingBytes: room.writing,
          otherBytes: room.other,
          seeds: sources.reduce(0) { $0 + $1.count }))
    }
    Self.lines(counts, usage, directory: location.path).forEach(Console.print)
    Self.lines(room, settings).forEach(Console.print)
    for source in sources {
      let count = HumanText.count(source.count, "response")
      Console.print("seed        \(source.name): \(count), made on \(SeedOptionGroup.time(source.newest))")
    }
  }

  /// The bytes in use by kind, and the limits, as text.
  static func lines(_ room: DiskUsage, _ settings: DirectorySettings) -> [String] {
    let parts: [(String, Int64)] = [
      ("body files", room.bodies), ("index", room.index), ("its log", room.log),
      ("being written", room.writing), ("other files", room.other),
    ]
    let taken = parts.filter { $0.1 > 0 }.map { "\($0.0) \(HumanText.bytes($0.1))" }
    return [
      "usage       " + taken.joined(separator: ", "),
      "capacity    \(HumanText.bytes(settings.capacity)), "
        + "\(HumanText.share(room.total, of: settings.capacity)) in use",
      "min-free    \(HumanText.bytes(settings.minimumFreeSpace)) to leave free on the file system",
    ]
  }

  /// The figures as text.
  static func lines(_ counts: CacheCounts, _ usage: StoreUsage, directory: String) -> [String] {
    let requests = counts.hits + counts.validated + counts.misses
    let answered = counts.hits + counts.validated
    return [
      "directory   \(directory)",
      "responses   \(usage.diskEntries), \(HumanText.bytes(usage.diskBytes)) on disk",
      "requests    \(requests): from the cache \(counts.hits), confirmed by the origin "
        + "\(counts.validated), from the origin \(counts.misses)",
      "hit rate    \(HumanText.share(answered, of: requests)), "
        + "\(HumanText.share(counts.hits, of: requests)) without asking the origin",
      "bytes       \(HumanText.bytes(counts.hitBytes)) from the cache, "
        + "\(HumanText.bytes(counts.originBytes)) from origins "
        + "(\(HumanText.share(counts.hitBytes, of: counts.hitBytes + counts.originBytes)) saved)",
      "stored      \(counts.stores), \(counts.evictions) evicted for space",
    ]
  }
}
