public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPCaching
import HTTPTypes

/// The responses of a store that may be shipped: complete responses to GET, without partition, that are not
/// invalidated, not `private`, and do not answer a request with credentials.
///
/// ```swift
/// try await StoreExport(cache, .prefix("https://www.example.com/")).write(to: "content.hca")
/// ```
///
/// A response whose key overrides made from other URLs (`lowercasingPath`, `droppingQuery` and others) is listed under
/// its key: a cache with the same overrides finds it. One that several URLs share (`RuleEffect.alias`) is listed under
/// the URLs that are known to have it.
public final class StoreExport: SeedSource {
  /// The name for messages.
  public let name: String
  /// The latest time at which a response was received.
  public let newest: Timestamp
  /// The number of selected entries that may not be shipped.
  public let leftOut: Int
  /// The targets of entries that may not be shipped, each with the reason; at most 100.
  public let notes: [String]
  private let list: [SeedResponse]

  /// Collects responses, ordered by target. Bodies are read later, from `store`.
  ///
  /// - Parameters:
  ///   - store: the store to read.
  ///   - selection: which of its entries.
  ///   - mode: only entries of this mode.
  ///   - name: the name for messages.
  /// - Throws: what the store throws.
  public init(
    _ store: any CacheStore, _ selection: CacheSelection = .all, mode: CacheMode, name: String
  ) async throws(CacheError) {
    var collected = Collected()
    try await store.forEachEntry(selection) { (entry) throws(CacheError) in
      if entry.record.key.mode == mode { try collected.add(entry, of: store) }
    }
    var list = collected.finished()
    list.sort { ($0.target, Self.order($0)) < ($1.target, Self.order($1)) }
    self.list = list
    (leftOut, notes) = (collected.leftOut, collected.notes)
    self.name = name
    newest = list.map(\.response.responseTime).max() ?? Timestamp(seconds: 0)
  }

  /// Collects responses of a cache.
  ///
  /// - Parameters:
  ///   - cache: the cache to read.
  ///   - selection: which of its entries.
  /// - Throws: `CacheError.invalidRequest` for a prefix or a target that is not absolute; what the store throws.
  public convenience init(_ cache: HTTPCache, _ selection: CacheSelection = .all) async throws(CacheError) {
    try await self.init(
      cache.store, try selection.checked(), mode: cache.configuration.rules.mode,
      name: cache.configuration.directory ?? "memory")
  }

  /// Responses while the store is read.
  private struct Collected {
    private var list: [SeedResponse] = []
    /// The responses of items that several URLs share, whose pointers may come later.
    private var items: [SeedResponse] = []
    /// The URLs of each item.
    private var urls: [String: [String]] = [:]
    private(set) var leftOut = 0
    private(set) var notes: [String] = []

    mutating func add(_ entry: CacheEntry, of store: any CacheStore) throws(CacheError) {
      let record = entry.record
      switch record.key.methodClass {
      case .pointer:
        if record.key.partition.isEmpty, let item = record.item {
          urls[item, default: []].append(record.key.target)
        }
        return
      case .searchRule: return
      case .get, .query: break
      }
      if let obstacle = Self.obstacle(record) { return leaveOut(record.key.target, obstacle) }
      guard
        let variant = try store.read(record.key).first(where: { $0.record.sequence == record.sequence }),
        let length = variant.record.bodyLength
      else { return leaveOut(record.key.target, "it was removed meanwhile") }
      let seed = SeedResponse(
        target: record.key.target, response: variant.record.response, bodyLength: length, body: variant.body,
        bodyPath: entry.bodyPath)
      if TargetURI.normalized(seed.target) == seed.target { list.append(seed) } else { items.append(seed) }
    }

    /// All responses, those of items under their URLs.
    mutating func finished() -> [SeedResponse] {
      let known = Set(list.map(\.target))
      for seed in items {
        let targets = (urls[seed.target] ?? []).sorted().filter { !known.contains($0) }
        if targets.isEmpty {
          leaveOut(seed.target, "no URL is known that has this shared response")
        } else {
          list.append(seed.answering(targets))
        }
      }
      items = []
      return list
    }

    private mutating func leaveOut(_ target: String, _ reason: String) {
      leftOut += 1
      if notes.count < 100 { notes.append("\(target): \(reason)") }
    }

    /// Why an entry may not be shipped; nil if it may.
    private static func obstacle(_ record: CacheRecord) -> String? {
      let response = record.response
      if record.key.target.hasPrefix(SealedTarget.mark) { return "it is encrypted with another key" }
      if !record.key.partition.isEmpty { return "it belongs to an account or a site (partition)" }
      if record.key.methodClass != .get || response.requestMethod != .get {
        return "a response to \(response.requestMethod)"
      }
      if !record.isComplete { return "it is incomplete" }
      if response.isInvalidated { return "it was invalidated" }
      if response.isExpired { return "it was purged softly" }
      if response.answeredAuthorized { return "it answers a request with credentials" }
      if record.isMemoryOnly { return "it may be in memory only" }
      if response.facts.directives.contains(.private) { return "it is private" }
      let hasSecret = response.nominated.contains { if case .digest = $0.value { true } else { false } }
      return hasSecret ? "only requests with a secret field select it (Vary)" : nil
    }
  }

  private static func order(_ seed: SeedResponse) -> String {
    seed.response.nominated.map { "\($0.name.canonicalName)=\($0.value)" }.joined(separator: "\n")
  }

  /// The number of responses.
  public var count: Int { list.count }

  /// The responses for a target.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    list.compactMap { seed in
      seed.target == target ? seed : seed.otherTargets.contains(target) ? seed.answering([target]) : nil
    }
  }

  /// A part of the list, ordered by target.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    Array(list.dropFirst(max(0, position)).prefix(max(0, limit)))
  }

  /// Writes the responses as content to ship with a program, or for other tools.
  ///
  /// - Parameters:
  ///   - path: the file or folder. An existing file is replaced; a folder must not exist.
  ///   - form: the form; nil is that of the path's extension, and `archive` for another one.
  ///   - secrets: fields and parameters of queries that are not written; by default credentials and cookies.
  /// - Returns: the number of responses written, of selected entries that were left out, and the reasons, each with its
  ///   target; at most 200.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.cancelled`, what the store throws.
  @discardableResult
  public func write(
    to path: String, as form: ExportForm? = nil, without secrets: RecordingSecrets = RecordingSecrets()
  ) async throws(CacheError) -> (written: Int, leftOut: Int, reasons: [String]) {
    let form = form ?? ExportForm(path: path) ?? .archive
    let stripped = try StrippedSeeds(self, without: secrets)
    return (
      try await form.write(stripped, to: path), leftOut + count - stripped.count, notes + stripped.notes
    )
  }
}
