import HTTPCacheSemantics
import HTTPCacheStore

extension CacheRecord {
  /// The record with newer header fields, and the groups that these fields name (RFC 9875 §2.1).
  func freshened(_ response: StoredResponse) -> CacheRecord {
    with(response: response, groups: CacheGroups.names(of: response.head))
  }

  /// The stored part of the body; nil if all of it is stored.
  var part: StoredPart? {
    storedRanges.map { StoredPart(ranges: $0, length: bodyLength) }
  }
}

extension [StoredVariant] {
  /// The stored part of each body; empty if all bodies are complete.
  var parts: [StoredPart?] {
    allSatisfy(\.record.isComplete) ? [] : map(\.record.part)
  }
}
