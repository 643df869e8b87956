public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPCaching
import HTTPTypes

/// The responses of a store that may be shipped: complete responses to GET, without partition, that are not
/// invalidated, not `private`, and do not answer a request with credentials.
public final class StoreExport: SeedSource {
  /// The name for messages.
  public let name: String
  /// The latest time at which a response was received.
  public let newest: Timestamp
  /// The number of selected entries that may not be shipped.
  public let leftOut: Int
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
    var (list, leftOut): ([SeedResponse], Int) = ([], 0)
    var cursor: EntryCursor?
    repeat {
      let page = try await store.entries(selection, after: cursor, limit: 256)
      for entry in page.entries
      where entry.record.key.mode == mode && entry.record.key.methodClass != .pointer
        && entry.record.key.methodClass != .searchRule
      {
        guard Self.mayShip(entry.record),
          let variant = try store.read(entry.record.key).first(where: {
            $0.record.sequence == entry.record.sequence
          }), let length = variant.record.bodyLength
        else {
          leftOut += 1
          continue
        }
        list.append(
          SeedResponse(
            target: entry.record.key.target, response: variant.record.response, bodyLength: length,
            body: variant.body, bodyPath: entry.bodyPath))
      }
      cursor = page.next
    } while cursor != nil
    list.sort { ($0.target, Self.order($0)) < ($1.target, Self.order($1)) }
    self.list = list
    self.leftOut = leftOut
    self.name = name
    newest = list.map(\.response.responseTime).max() ?? Timestamp(seconds: 0)
  }

  private static func mayShip(_ record: CacheRecord) -> Bool {
    let response = record.response
    return record.key.partition.isEmpty && record.key.methodClass == .get && record.isComplete
      && response.requestMethod == .get && !response.isInvalidated && !response.answeredAuthorized
      && !record.isMemoryOnly && response.keyFingerprint == 0
      && !response.facts.directives.contains(.private)
      && TargetURI.normalized(record.key.target) == record.key.target
      && response.nominated.allSatisfy { if case .digest = $0.value { false } else { true } }
  }

  private static func order(_ seed: SeedResponse) -> String {
    seed.response.nominated.map { "\($0.name.canonicalName)=\($0.value)" }.joined(separator: "\n")
  }

  /// The number of responses.
  public var count: Int { list.count }

  /// The responses for a target.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    list.filter { $0.target == target }
  }

  /// A part of the list, ordered by target.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    Array(list.dropFirst(max(0, position)).prefix(max(0, limit)))
  }
}

extension HTTPCache {
  /// Writes stored responses as content to ship with a program, or for other tools.
  ///
  /// ```swift
  /// try await cache.export(.prefix("https://www.example.com/"), to: "content.hca")
  /// ```
  ///
  /// Only responses that every user may get are written: complete responses to GET, without partition, credentials
  /// and `Cache-Control: private`, and without secrets.
  ///
  /// - Parameters:
  ///   - selection: the entries.
  ///   - path: the file or folder. An existing file is replaced; a folder must not exist.
  ///   - form: the form; nil is that of the path's extension, and `archive` for another one.
  ///   - secrets: fields and parameters of queries that are not written; by default credentials and cookies.
  /// - Returns: the number of responses written, and of selected entries that were left out.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, what the store throws.
  @discardableResult
  public func export(
    _ selection: CacheSelection = .all, to path: String, as form: ExportForm? = nil,
    without secrets: RecordingSecrets = RecordingSecrets()
  ) async throws(CacheError) -> (written: Int, leftOut: Int) {
    let source = try await StoreExport(store, selection, mode: configuration.rules.mode, name: path)
    let form = form ?? ExportForm(path: path) ?? .archive
    let stripped = try StrippedSeeds(source, without: secrets)
    return (try await form.write(stripped, to: path), source.leftOut + source.count - stripped.count)
  }
}
