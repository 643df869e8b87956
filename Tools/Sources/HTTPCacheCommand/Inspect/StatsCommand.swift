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
    var capacity: Int64?
    var indexBytes: Int64
    var logBytes: Int64
    var bodyBytes: Int64
    var writingBytes: Int64
    var freePageBytes: Int64
    var otherBytes: Int64
  }

  func run() async throws {
    let store = try location.openStore()
    let counts: CacheCounts
    let room: DiskUsage
    do {
      counts = try await store.counts()
      room = try store.diskUsage()
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
          originBytes: counts.originBytes, capacity: room.capacity, indexBytes: room.index,
          logBytes: room.log, bodyBytes: room.bodies, writingBytes: room.writing,
          freePageBytes: room.freePages, otherBytes: room.other))
    }
    Self.lines(counts, usage, directory: location.path).forEach(Console.print)
    Self.lines(room).forEach(Console.print)
  }

  /// What takes the room, for people.
  static func lines(_ room: DiskUsage) -> [String] {
    let parts: [(String, Int64)] = [
      ("bodies in files", room.bodies), ("index", room.index), ("its log", room.log),
      ("free pages", room.freePages), ("being written", room.writing), ("the rest", room.other),
    ]
    let taken = parts.filter { $0.1 > 0 }.map { "\($0.0) \(HumanText.bytes($0.1))" }
    var lines = ["room        " + taken.joined(separator: ", ")]
    if let capacity = room.capacity {
      lines.append(
        "capacity    \(HumanText.bytes(capacity)) when anything was last stored, "
          + "\(HumanText.share(room.total, of: capacity)) taken")
    }
    return lines
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
