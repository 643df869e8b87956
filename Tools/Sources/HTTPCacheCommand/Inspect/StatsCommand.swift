import ArgumentParser
import HTTPCaching

/// `httpcache stats`: totals and hit rates.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show totals and hit rates over the life of the cache.")

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var location: CacheLocation

  /// The figures for programs.
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
  }

  func run() async throws {
    let store = try location.openStore()
    let counts: CacheCounts
    do {
      counts = try await store.counts()
    } catch {
      throw ExitStatus.reporting(error)
    }
    let usage = store.usage
    guard !json else {
      return try Console.printJSON(
        JSON(
          directory: location.path, responses: usage.diskEntries, diskBytes: usage.diskBytes,
          hits: counts.hits, validated: counts.validated, misses: counts.misses,
          stores: counts.stores, evictions: counts.evictions, hitBytes: counts.hitBytes,
          originBytes: counts.originBytes))
    }
    Self.lines(counts, usage, directory: location.path).forEach(Console.print)
  }

  /// The figures for people.
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
