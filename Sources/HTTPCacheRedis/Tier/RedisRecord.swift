#if Redis
  import HTTPCacheSemantics
  import HTTPCacheStore
  import HTTPCaching

  /// The value of a variant: a header that the publishing script reads, and a payload, which may be encrypted.
  ///
  /// | bytes | header, in digits |
  /// |---|---|
  /// | 1 | 1, the version |
  /// | 12 | `Date` in seconds since 1970; zeros if there is none |
  /// | 40 | the ticket |
  /// | 15 | the server's time of publication in milliseconds since 1970 |
  /// | 16 | the id of the body in hex digits; zeros if it is inline |
  ///
  /// The payload has the age at publication in milliseconds, the length of a body in parts, the record and the inline
  /// body.
  struct RedisRecord: Sendable {
    /// The longest record in bytes.
    static let longest = 64 << 10
    /// The id of no body.
    static let noBody = "0000000000000000"

    private static let headerLength = 84
    private static let publishedDigits = 53..<68
    private static let bodyDigits = 68..<84

    let date: String
    let ticket: String
    let bodyID: String
    let payload: [UInt8]

    /// Encodes a variant.
    ///
    /// - Throws: `CacheError.tooLarge` for a record or an inline body that is too long, and for a variant without a body.
    init(_ variant: SharedVariant, field: [UInt8], digest: [UInt8], _ seal: RedisSeal) throws(CacheError) {
      let record = try RecordCodec.encode(variant.record)
      let inline = variant.inlineBody ?? []
      guard record.count <= Self.longest, inline.count <= SharedVariant.longestInlineBody,
        (variant.inlineBody == nil) == (variant.body != nil)
      else {
        throw CacheError(
          .tooLarge, "a record of \(record.count) bytes with \(inline.count) bytes of its body")
      }
      let seconds = variant.record.response.dateField.map { min(max(1, $0.seconds), 999_999_999_999) } ?? 0
      date = SharedPosition.padded(seconds, to: 12)
      ticket = variant.ticket.digits
      bodyID = variant.body.map { Self.text(ofBody: $0.id) } ?? Self.noBody
      var writer = BinaryWriter()
      writer.signed(variant.age)
      writer.signed(variant.body?.length ?? -1)
      writer.bytes(record)
      writer.bytes(inline)
      payload = try seal.seal(
        writer.output, at: .record(digest: digest, field: field, header: date + ticket + bodyID))
    }

    /// Decodes a variant; nil for anything that was not published for this key by a node with the same secrets.
    static func variant(
      _ value: [UInt8], field: [UInt8], key: CacheKey, digest: [UInt8], _ seal: RedisSeal
    ) -> SharedVariant? {
      guard value.count > headerLength, value[0] == UInt8(ascii: "1"),
        let ticket = SharedPosition(digits: value[13..<53]),
        let published = Int64(String(decoding: value[publishedDigits], as: UTF8.self))
      else { return nil }
      let bodyID = String(decoding: value[bodyDigits], as: UTF8.self)
      let header = String(decoding: value[1..<53], as: UTF8.self) + bodyID
      guard let id = UInt64(bodyID, radix: 16),
        let payload = try? seal.open(
          Array(value[headerLength...]), at: .record(digest: digest, field: field, header: header)),
        let content = try? content(of: payload), content.record.key == key, published >= 0
      else { return nil }
      let isInline = bodyID == noBody
      guard isInline == (content.length < 0), isInline || content.length > 0, content.age >= 0 else {
        return nil
      }
      return SharedVariant(
        record: content.record, age: content.age, published: published, ticket: ticket,
        inlineBody: isInline ? content.inline : nil,
        body: isInline ? nil : SharedBody(id: id, length: content.length))
    }

    private static func content(
      of payload: [UInt8]
    ) throws(CacheError) -> (age: Int64, length: Int64, record: CacheRecord, inline: [UInt8]) {
      try payload.withUnsafeBufferPointer { (bytes) throws(CacheError) in
        var reader = BinaryReader(UnsafeRawBufferPointer(bytes))
        let age = try reader.signed()
        let length = try reader.signed()
        let record = try RecordCodec.decode(try reader.slice())
        let inline = try reader.bytes()
        guard reader.remaining == 0 else { throw BinaryReader.damaged("bytes after its end") }
        return (age, length, record, inline)
      }
    }

    /// The id of a body in 16 hex digits.
    static func text(ofBody id: UInt64) -> String { SharedPosition.padded(id, to: 16, radix: 16) }
  }
#endif
