import HTTPCacheSemantics
import HTTPCacheStore

extension CacheRecord {
  /// The record with newer header fields, and the groups that they name (RFC 9875 §2.1).
  func freshened(_ response: StoredResponse) -> CacheRecord {
    with(response: response, groups: CacheGroups.names(of: response.head))
  }

  /// What is stored of the body; nil for all of it.
  var part: StoredPart? {
    storedRanges.map { StoredPart(ranges: $0, length: bodyLength) }
  }
}

extension [StoredVariant] {
  /// What is stored of each; empty where all are complete.
  var parts: [StoredPart?] {
    allSatisfy(\.record.isComplete) ? [] : map(\.record.part)
  }
}
