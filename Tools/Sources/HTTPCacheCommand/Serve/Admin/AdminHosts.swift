import HTTPCacheProxy
import HTTPCaching

/// The stored responses by host, as JSON.
struct AdminHosts: Encodable {
  /// The stored responses of a host.
  struct Host: Encodable {
    var host: String
    var entries = 0
    var bytes: Int64 = 0
  }

  /// Counting stops after so many entries: a cache may have millions.
  private static let mostEntries = 100_000
  private static let mostHosts = 50

  /// The hosts with the most bytes.
  var hosts: [Host]
  /// Whether all entries were counted.
  var isComplete: Bool

  /// Counts the entries of a cache.
  ///
  /// - Throws: `CacheError` if the index cannot be read.
  init(of cache: HTTPCache) async throws {
    var counts: [String: Host] = [:]
    var seen = 0
    var cursor: EntryCursor?
    repeat {
      let page = try await cache.entries(.all, after: cursor, limit: 1_000)
      for entry in page.entries {
        let host = Self.host(of: entry.record.key.target)
        counts[host, default: Host(host: host)].entries += 1
        counts[host, default: Host(host: host)].bytes += entry.size
      }
      seen += page.entries.count
      cursor = page.next
    } while cursor != nil && seen < Self.mostEntries && !Task.isCancelled
    isComplete = cursor == nil
    hosts = Array(counts.values.sorted { ($1.bytes, $0.host) < ($0.bytes, $1.host) }.prefix(Self.mostHosts))
  }

  private static func host(of target: String) -> String {
    Authority.range(in: target.utf8).map { String(target[$0]) } ?? target
  }
}
