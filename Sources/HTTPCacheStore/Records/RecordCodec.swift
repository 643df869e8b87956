package import HTTPCacheSemantics
package import HTTPTypes

/// The binary form of a `CacheRecord`: a format number, the content, and an XXH64 over both.
///
/// Integers are little-endian base-128 (7 bits a byte, least significant first), signed ones zigzagged. Text
/// and bytes are preceded by their length.
package enum RecordCodec {
  /// The format of each record. Those of other formats are not read.
  package static let recordFormat: UInt8 = 4

  /// The longest encoded record in bytes, written or read.
  package static let longestRecord = 1 << 20

  static let checksumLength = 8
  static let mostFields = HTTPFields.countLimit

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let answeredAuthorized = Flags(rawValue: 1)
    static let isDecoded = Flags(rawValue: 2)
    static let isInvalidated = Flags(rawValue: 4)
    static let isSeed = Flags(rawValue: 8)
    static let isPinned = Flags(rawValue: 16)
    static let isMemoryOnly = Flags(rawValue: 32)
    static let isExpired = Flags(rawValue: 64)
    static let known: Flags = [
      .answeredAuthorized, .isDecoded, .isInvalidated, .isSeed, .isPinned, .isMemoryOnly, .isExpired,
    ]
  }

  /// Encodes a record. Refuses the records that `decode` would refuse.
  ///
  /// - Throws: `CacheError.tooLarge` for a record longer than `longestRecord` bytes or of more than 16,384
  ///   fields, `CacheError.damaged` for a negative length and for ranges that overlap, are out of order, or
  ///   lie outside the body.
  package static func encode(_ record: CacheRecord) throws(CacheError) -> [UInt8] {
    try requireDecodable(record)
    var writer = BinaryWriter()
    let response = record.response
    writer.byte(recordFormat)
    writer.unsigned(record.sequence)
    write(record.key, to: &writer)
    writer.text(response.requestMethod.rawValue)
    writer.byte(flags(of: record).rawValue)
    writer.signed(response.requestTime.seconds)
    writer.signed(response.responseTime.seconds)
    write(response.facts, to: &writer)
    writer.count(response.nominated.count)
    for field in response.nominated { write(field, to: &writer) }
    writer.unsigned(UInt64(response.head.status.code))
    writer.text(response.head.status.reasonPhrase)
    write(response.head.headerFields, to: &writer)
    write(response.trailers, to: &writer)
    writer.count(record.groups.count)
    for group in record.groups { writer.text(group) }
    writer.bytes(record.userInfo)
    writer.optionalSigned(record.bodyLength)
    if let ranges = record.storedRanges {
      writer.count(ranges.count + 1)
      for range in ranges {
        writer.signed(range.lowerBound)
        writer.signed(range.upperBound)
      }
    } else {
      writer.count(0)
    }
    writer.byte(response.requestedRange == nil ? 0 : 1)
    if let range = response.requestedRange { writer.text(range) }
    writer.unsigned(response.facts.overrides)
    writer.unsigned(response.keyFingerprint)
    writer.fixed(XXH64.hash(writer.output))
    guard writer.output.count <= longestRecord else {
      throw CacheError(
        .tooLarge, "a record of \(writer.output.count) bytes, at most \(longestRecord) are stored",
        key: record.key)
    }
    return writer.output
  }

  /// The bytes that identify a variant: the key and the fields that `Vary` nominated, ordered by their names
  /// in lower case (RFC 9111 §4.1). Two records with equal bytes are the same variant.
  package static func variant(of record: CacheRecord) -> [UInt8] {
    var writer = BinaryWriter()
    write(record.key, to: &writer)
    let nominated = record.response.nominated
    for field in nominated.sorted(by: { $0.name.canonicalName < $1.name.canonicalName }) {
      writer.text(field.name.canonicalName)
      write(field.value, to: &writer)
    }
    return writer.output
  }

  private static func flags(of record: CacheRecord) -> Flags {
    var flags: Flags = []
    if record.response.answeredAuthorized { flags.insert(.answeredAuthorized) }
    if record.response.isDecoded { flags.insert(.isDecoded) }
    if record.response.isInvalidated { flags.insert(.isInvalidated) }
    if record.response.isExpired { flags.insert(.isExpired) }
    if record.isSeed { flags.insert(.isSeed) }
    if record.isPinned { flags.insert(.isPinned) }
    if record.isMemoryOnly { flags.insert(.isMemoryOnly) }
    return flags
  }

  package static func write(_ key: CacheKey, to writer: inout BinaryWriter) {
    writer.byte(key.mode.rawValue)
    writer.byte(key.methodClass.rawValue)
    writer.text(key.partition)
    writer.text(key.target)
    writer.bytes(key.contentDigest)
  }

  private static func write(_ facts: ReuseFacts, to writer: inout BinaryWriter) {
    writer.signed(facts.freshnessLifetime)
    writer.byte(facts.lifetimeSource.rawValue)
    writer.signed(facts.correctedInitialAge)
    writer.unsigned(UInt64(facts.directives.rawValue))
    writer.optionalSigned(facts.windows[.staleWhileRevalidate])
    writer.optionalSigned(facts.windows[.staleIfError])
  }

  private static func write(_ field: NominatedField, to writer: inout BinaryWriter) {
    writer.text(field.name.rawName)
    write(field.value, to: &writer)
  }

  package static func write(_ value: NominatedField.Value, to writer: inout BinaryWriter) {
    switch value {
    case .absent: writer.byte(0)
    case .text(let text):
      writer.byte(1)
      writer.text(text)
    case .digest(let digest):
      writer.byte(2)
      writer.bytes(digest)
    }
  }

  package static func write(_ fields: HTTPFields, to writer: inout BinaryWriter) {
    writer.count(fields.count)
    for field in fields {
      writer.text(field.name.rawName)
      field.withUnsafeBytesOfValue { writer.bytes(UnsafeRawBufferPointer($0)) }
    }
  }
}

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
