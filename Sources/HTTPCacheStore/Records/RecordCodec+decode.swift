package import HTTPCacheSemantics
package import HTTPTypes

extension RecordCodec {
  /// Decodes a record.
  ///
  /// - Parameters:
  ///   - bytes: untrusted bytes.
  ///   - sequence: replaces the encoded sequence number, for stores that number entries as they store them; nil
  ///     keeps the encoded one.
  ///   - isInvalidated: marks the record as invalidated, even if the encoded one is not.
  ///   - isExpired: marks the record as expired, even if the encoded one is not.
  /// - Throws: `CacheError.damaged` for anything but a whole record, `CacheError.newerFormat`.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, sequence: UInt64? = nil, isInvalidated: Bool = false,
    isExpired: Bool = false
  ) throws(CacheError) -> CacheRecord {
    guard bytes.count > checksumLength, bytes.count <= longestRecord else {
      throw BinaryReader.damaged("\(bytes.count) bytes")
    }
    let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - checksumLength)])
    let checksum = UInt64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: content.count, as: UInt64.self))
    guard XXH64.hash(content) == checksum else { throw BinaryReader.damaged("checksum does not hold") }
    var reader = BinaryReader(content)
    let format = try reader.byte()
    guard format <= Self.recordFormat else {
      throw CacheError(.newerFormat, "record: format \(format)")
    }
    guard format == Self.recordFormat else { throw BinaryReader.damaged("format \(format)") }
    let record = try decode(
      &reader, sequence: sequence, isInvalidated: isInvalidated, isExpired: isExpired)
    guard reader.remaining == 0 else { throw BinaryReader.damaged("bytes after its end") }
    return record
  }

  /// Decodes a record from an array.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.newerFormat`.
  package static func decode(_ bytes: [UInt8]) throws(CacheError) -> CacheRecord {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CacheError) in
      try decode(UnsafeRawBufferPointer(buffer))
    }
  }

  private static func decode(
    _ reader: inout BinaryReader, sequence: UInt64?, isInvalidated: Bool, isExpired: Bool
  ) throws(CacheError) -> CacheRecord {
    let encodedSequence = try reader.unsigned()
    let key = try readKey(&reader)
    guard let method = HTTPRequest.Method(rawValue: try reader.text()) else {
      throw BinaryReader.damaged("method is not a token")
    }
    let flags = Flags(rawValue: try reader.byte())
    guard Flags.known.isSuperset(of: flags) else { throw BinaryReader.damaged("unknown flags") }
    let requestTime = Timestamp(seconds: try reader.signed())
    let responseTime = Timestamp(seconds: try reader.signed())
    var facts = try readFacts(&reader)
    var nominated: [NominatedField] = []
    let nominations = try reader.count(ofSize: 2)
    guard nominations <= mostFields else { throw BinaryReader.damaged("\(nominations) nominated fields") }
    for _ in 0..<nominations { nominated.append(try readNominatedField(&reader)) }
    let status = try readStatus(&reader)
    let fields = try readFields(&reader)
    let trailers = try readFields(&reader)
    var groups: [String] = []
    for _ in 0..<(try reader.count(ofSize: 1)) { groups.append(try reader.text()) }
    let userInfo = try reader.bytes()
    let bodyLength = try reader.optionalSigned()
    guard bodyLength.map({ $0 >= 0 }) ?? true else { throw BinaryReader.damaged("negative length") }
    let ranges = try readRanges(&reader, bodyLength: bodyLength)
    let requestedRange = try readFlag(&reader) ? try reader.text() : nil
    facts.overrides = try reader.unsigned()
    let keyFingerprint = try reader.unsigned()
    let response = StoredResponse(
      requestMethod: method, nominated: nominated,
      head: HTTPResponse(status: status, headerFields: fields), trailers: trailers,
      requestTime: requestTime, responseTime: responseTime,
      answeredAuthorized: flags.contains(.answeredAuthorized),
      isDecoded: flags.contains(.isDecoded),
      isInvalidated: isInvalidated || flags.contains(.isInvalidated),
      isExpired: isExpired || flags.contains(.isExpired),
      requestedRange: requestedRange, facts: facts, keyFingerprint: keyFingerprint)
    return CacheRecord(
      key: key, response: response, bodyLength: bodyLength, storedRanges: ranges, groups: groups,
      userInfo: userInfo, isSeed: flags.contains(.isSeed), isPinned: flags.contains(.isPinned),
      isMemoryOnly: flags.contains(.isMemoryOnly), isResumable: false,
      sequence: sequence ?? encodedSequence, ticket: nil)
  }

  private static func readFlag(_ reader: inout BinaryReader) throws(CacheError) -> Bool {
    let byte = try reader.byte()
    guard byte <= 1 else { throw BinaryReader.damaged("neither 0 nor 1") }
    return byte == 1
  }

  /// Reads a key that `write(_:to:)` wrote.
  ///
  /// - Throws: `CacheError.damaged`.
  package static func readKey(_ reader: inout BinaryReader) throws(CacheError) -> CacheKey {
    guard let mode = CacheMode(rawValue: try reader.byte()) else {
      throw BinaryReader.damaged("unknown mode")
    }
    guard let methodClass = CacheKey.MethodClass(rawValue: try reader.byte()) else {
      throw BinaryReader.damaged("unknown method class")
    }
    let partition = try reader.text()
    let target = try reader.text()
    let digest = try reader.bytes()
    return CacheKey(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: digest)
  }

  private static func readFacts(_ reader: inout BinaryReader) throws(CacheError) -> ReuseFacts {
    let lifetime = try reader.signed()
    guard let source = ReuseFacts.LifetimeSource(rawValue: try reader.byte()) else {
      throw BinaryReader.damaged("unknown source of lifetime")
    }
    let age = try reader.signed()
    guard let directives = UInt32(exactly: try reader.unsigned()) else {
      throw BinaryReader.damaged("unknown directives")
    }
    var windows = ReuseWindows()
    windows[.staleWhileRevalidate] = try reader.optionalSigned()
    windows[.staleIfError] = try reader.optionalSigned()
    return ReuseFacts(
      freshnessLifetime: lifetime, lifetimeSource: source, correctedInitialAge: age,
      directives: ReuseFacts.Directives(rawValue: directives), windows: windows, overrides: 0)
  }

  private static func readName(_ reader: inout BinaryReader) throws(CacheError) -> HTTPField.Name {
    let bytes = try reader.slice()
    if let name = CommonFieldNames.name(bytes) { return name }
    guard ASCIIText.isASCII(bytes), let name = HTTPField.Name(ASCIIText.string(bytes)) else {
      throw BinaryReader.damaged("field name is not a token")
    }
    return name
  }

  private static func readNominatedField(
    _ reader: inout BinaryReader
  ) throws(CacheError) -> NominatedField {
    let name = try readName(&reader)
    switch try reader.byte() {
    case 0: return NominatedField(name: name, value: .absent)
    case 1: return NominatedField(name: name, value: .text(try reader.text()))
    case 2: return NominatedField(name: name, value: .digest(try reader.bytes()))
    default: throw BinaryReader.damaged("unknown kind of nominated field")
    }
  }

  private static func readStatus(
    _ reader: inout BinaryReader
  ) throws(CacheError) -> HTTPResponse.Status {
    let code = try reader.unsigned()
    guard code <= 999 else { throw BinaryReader.damaged("status of four digits") }
    let reason = try reader.text()
    let status = HTTPResponse.Status(code: Int(code), reasonPhrase: reason)
    guard status.reasonPhrase == reason else { throw BinaryReader.damaged("reason phrase") }
    return status
  }

  /// Reads header or trailer fields.
  ///
  /// - Throws: `CacheError.damaged`.
  package static func readFields(_ reader: inout BinaryReader) throws(CacheError) -> HTTPFields {
    let count = try reader.count(ofSize: 2)
    guard count <= mostFields else { throw BinaryReader.damaged("\(count) fields") }
    var fields: [HTTPField] = []
    fields.reserveCapacity(count)
    for _ in 0..<count {
      let name = try readName(&reader)
      let value = try reader.slice()
      if ASCIIText.isPlainValue(value) {
        // bounded: an array, of at most `mostFields`.
        fields.append(HTTPField(name: name, value: ASCIIText.string(value)))
        continue
      }
      // Refuse only bytes that would end the field when it is sent. Other bytes that
      // an origin sent beyond RFC 9110 §5.5 are kept.
      guard !value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
        throw BinaryReader.damaged("field value has NUL, CR or LF")
      }
      // bounded: an array, of at most `mostFields`.
      fields.append(HTTPField(name: name, lenientValue: value))
    }
    return Self.list(fields)
  }

  /// Fields in their order. Every other way to build `HTTPFields` is generic code of another module, and
  /// takes longer than the rest of the decoding; this one is inlined, and appends fields as they are.
  private static func list(_ fields: [HTTPField]) -> HTTPFields {
    var list = HTTPFields()
    guard let first = fields.first else { return list }
    list.reserveCapacity(fields.count)
    list[fields: first.name] = fields
    if list.count == fields.count { return list }
    list = HTTPFields()
    list.replaceSubrange(0..<0, with: fields)
    return list
  }

  private static func readRanges(
    _ reader: inout BinaryReader, bodyLength: Int64?
  ) throws(CacheError) -> [Range<Int64>]? {
    let marked = try reader.unsigned()
    guard marked > 0 else { return nil }
    guard marked - 1 <= UInt64(reader.remaining / 2) else {
      throw BinaryReader.damaged("more ranges than bytes")
    }
    var ranges: [Range<Int64>] = []
    var end: Int64 = 0
    for _ in 1..<marked {
      let lower = try reader.signed()
      let upper = try reader.signed()
      guard lower >= end, upper >= lower, upper <= bodyLength ?? .max else {
        throw BinaryReader.damaged("ranges out of order")
      }
      ranges.append(lower..<upper)
      end = upper
    }
    return ranges
  }
}
