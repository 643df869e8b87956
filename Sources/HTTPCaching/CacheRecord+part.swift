import HTTPCacheSemantics
import HTTPCacheStore

extension CacheRecord {
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
