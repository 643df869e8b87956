import HTTPCacheSemantics
import HTTPTypes

extension RecordCodec {
  /// Refuses the records that `decode` refuses, so that no store commits a record that it cannot read again.
  ///
  /// Names, methods, reasons and values are not checked: their types cannot hold what `decode` refuses. The
  /// length of the whole record is checked after encoding.
  ///
  /// - Throws: `CacheError.tooLarge` for more than `mostFields` fields, `CacheError.damaged` for a negative
  ///   length and for ranges that overlap, are out of order, or are outside the body.
  static func requireDecodable(_ record: CacheRecord) throws(CacheError) {
    for fields in [record.response.head.headerFields, record.response.trailers]
    where fields.count > mostFields {
      throw CacheError(
        .tooLarge, "a record of \(fields.count) fields, at most \(mostFields) are stored", key: record.key)
    }
    if let length = record.bodyLength, length < 0 {
      throw CacheError(.damaged, "a record of a body of \(length) bytes", key: record.key)
    }
    guard let ranges = record.storedRanges else { return }
    guard StoredRanges.areParts(ranges, of: record.bodyLength) else {
      throw CacheError(.damaged, "a record of the ranges \(ranges.prefix(8))", key: record.key)
    }
  }
}
