import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// A record as the store below has it: the fields for finding, ordering and evicting in the clear, the rest
/// sealed in `userInfo`. Facts that are known only after the body are sealed in the trailers.
struct SealedRecord {
  /// Identifies the body of a chunk: 16 random bytes.
  typealias BodyID = [UInt8]

  private enum Kind: UInt8 {
    case record = 1
    case completion = 2
    case chunk = 3
  }

  /// The stored part of a sealed body.
  struct Extent {
    /// The stored ranges; nil for all of it.
    let slots: [Range<Int64>]?
    /// The length of the whole; nil if it is unknown.
    let length: Int64?
  }

  private static let format: UInt8 = 1
  private static let bodyIDLength = 16
  private static let name = HTTPField.Name("Sealed")

  /// The decrypted record.
  let record: CacheRecord
  let bodyID: BodyID

  /// An identifier for a new body.
  static func makeBodyID() -> BodyID { [UInt8].random(count: bodyIDLength) }

  /// The record for the store below.
  ///
  /// - Parameters:
  ///   - record: the plain record.
  ///   - isFinal: whether trailers and length are known; otherwise they follow with `completion`.
  ///   - extent: what is stored of the sealed body.
  static func seal(
    _ record: CacheRecord, bodyID: BodyID, isFinal: Bool, as extent: Extent,
    cipher: any CacheCipher, names: SealedNames
  ) throws(CacheError) -> CacheRecord {
    let key = names.key(record.key)
    let nominated = names.nominated(record.response.nominated)
    let origin = record.key.origin
    var content: [UInt8] = [format, isFinal ? 1 : 0]
    content += bodyID
    content += try RecordCodec.encode(
      record.storing(nil, bodyLength: record.bodyLength).with(sequence: 0))
    var response = StoredResponse(
      requestMethod: .get, nominated: nominated, head: HTTPResponse(status: .ok),
      requestTime: record.response.responseTime, responseTime: record.response.responseTime,
      facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
    response.isInvalidated = record.response.isInvalidated
    response.isExpired = record.response.isExpired
    return CacheRecord(
      key: key, response: response, bodyLength: extent.length, storedRanges: extent.slots,
      groups: record.groups.map { names.group($0, of: origin) },
      userInfo: try cipher.seal(content, for: .record, context: context(key, nominated)),
      isSeed: false, isPinned: record.isPinned, isMemoryOnly: record.isMemoryOnly,
      isResumable: record.isResumable, sequence: record.sequence,
      ticket: record.ticket.map { names.ticket($0) })
  }

  /// Opens a record of the store below; nil for a part that has no whole chunk.
  ///
  /// - Throws: `CacheError.damaged` if it was changed.
  static func open(
    _ below: CacheRecord, cipher: any CacheCipher, names: SealedNames
  ) throws(CacheError) -> SealedRecord? {
    let layout = SealedLayout(cipher)
    let content = try cipher.open(
      below.userInfo, for: .record, context: context(below.key, below.response.nominated))
    guard content.count > 2 + bodyIDLength, content[0] == format, content[1] <= 1 else {
      throw CacheError(.damaged, "sealed: no record")
    }
    let isFinal = content[1] == 1
    let bodyID = Array(content[2..<2 + bodyIDLength])
    var record = try decode(content, from: 2 + bodyIDLength, below)
    try requireSame(below, record, names: names)
    var length = record.bodyLength
    if !isFinal, let completion = try completion(of: below, bodyID, cipher) {
      length = completion.length ?? length
      var response = record.response
      response.trailers = completion.trailers
      record = record.with(response: response)
    } else if !isFinal, below.isComplete {
      throw CacheError(.damaged, "sealed: the end of the record is missing")
    }
    if let length, let sealed = below.bodyLength, sealed != layout.sealedLength(of: length) {
      throw CacheError(.damaged, "sealed: the body is not as long as it was")
    }
    guard let slots = below.storedRanges else {
      guard let length, below.bodyLength != nil else {
        throw CacheError(.damaged, "sealed: a body without a length")
      }
      return SealedRecord(record: record.storing(nil, bodyLength: length), bodyID: bodyID)
    }
    // Beyond this position, computing positions could overflow.
    guard slots.last?.upperBound ?? 0 <= layout.sealedLength(of: SealedLayout.farthest) else {
      throw CacheError(.damaged, "sealed: a part too far away")
    }
    let ranges = layout.bytes(in: slots, length: length)
    guard !ranges.isEmpty else { return nil }
    return SealedRecord(record: record.storing(ranges, bodyLength: length), bodyID: bodyID)
  }

  // The store below selects and evicts by these fields, so they are in the clear as well and must match.
  private static func requireSame(
    _ below: CacheRecord, _ record: CacheRecord, names: SealedNames
  ) throws(CacheError) {
    guard below.isPinned == record.isPinned else {
      throw CacheError(.damaged, "sealed: it was pinned, or was not")
    }
    guard !below.groups.isEmpty || !record.groups.isEmpty else { return }
    let origin = record.key.origin
    guard Set(below.groups) == Set(record.groups.map { names.group($0, of: origin) }) else {
      throw CacheError(.damaged, "sealed: it belongs to other groups")
    }
  }

  private static func decode(
    _ content: [UInt8], from start: Int, _ below: CacheRecord
  ) throws(CacheError) -> CacheRecord {
    try content[start...].withUnsafeBufferPointer { (buffer) throws(CacheError) in
      try RecordCodec.decode(
        UnsafeRawBufferPointer(buffer), sequence: below.sequence,
        isInvalidated: below.response.isInvalidated, isExpired: below.response.isExpired)
    }
  }

  // MARK: Facts known after the body

  /// The trailers for the store below, which contain the length of the body and its trailers.
  static func completion(
    trailers: HTTPFields, length: Int64?, bodyID: BodyID, _ cipher: any CacheCipher
  ) throws(CacheError) -> HTTPFields {
    var writer = BinaryWriter()
    writer.byte(format)
    writer.optionalSigned(length)
    RecordCodec.write(trailers, to: &writer)
    let sealed = try cipher.seal(
      writer.output, for: .record, context: [Kind.completion.rawValue] + bodyID)
    guard let name else { throw CacheError(.io, "sealed: no name for the end of the record") }
    return [name: Base64.encodeURL(sealed)]
  }

  private static func completion(
    of below: CacheRecord, _ bodyID: BodyID, _ cipher: any CacheCipher
  ) throws(CacheError) -> (length: Int64?, trailers: HTTPFields)? {
    guard let name, let text = below.response.trailers[name] else { return nil }
    guard let sealed = Base64.url.decode(text.utf8) else {
      throw CacheError(.damaged, "sealed: the end of the record is no base64")
    }
    let content = try cipher.open(
      sealed, for: .record, context: [Kind.completion.rawValue] + bodyID)
    return try content.withUnsafeBufferPointer { (buffer) throws(CacheError) in
      try completion(UnsafeRawBufferPointer(buffer))
    }
  }

  private static func completion(
    _ buffer: UnsafeRawBufferPointer
  ) throws(CacheError) -> (Int64?, HTTPFields) {
    var reader = BinaryReader(buffer)
    guard try reader.byte() == format else { throw CacheError(.damaged, "sealed: no end of a record") }
    let length = try reader.optionalSigned()
    guard length ?? 0 >= 0 else { throw BinaryReader.damaged("negative length") }
    return (length, try RecordCodec.readFields(&reader))
  }

  // MARK: Contexts

  static func context(chunk index: Int64, isLast: Bool, of bodyID: BodyID) -> [UInt8] {
    var context: [UInt8] = [Kind.chunk.rawValue, isLast ? 1 : 0]
    context.reserveCapacity(10 + bodyID.count)
    withUnsafeBytes(of: index.littleEndian) { context.append(contentsOf: $0) }
    context += bodyID
    return context
  }

  private static func context(_ key: CacheKey, _ nominated: [NominatedField]) -> [UInt8] {
    var writer = BinaryWriter()
    writer.byte(Kind.record.rawValue)
    RecordCodec.write(key, to: &writer)
    writer.count(nominated.count)
    for field in nominated {
      if case .digest(let digest) = field.value { writer.bytes(digest) } else { writer.count(0) }
    }
    return writer.output
  }
}
