public import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// Keys, records and bodies for tests of stores.
public enum StoreSample {
  /// The start time of a check's manual clock.
  public static let start = Timestamp(seconds: 1_700_000_000)

  /// A key of `https://example.com`.
  public static func key(
    _ path: String = "/", mode: CacheMode = .private, partition: String = ""
  ) -> CacheKey {
    CacheKey(mode: mode, partition: partition, target: "https://example.com" + path)
  }

  /// A response that is fresh for an hour.
  ///
  /// - Parameters:
  ///   - language: `Accept-Language` of the request, which `Vary` nominates; nil for no `Vary`.
  ///   - time: when it was requested and arrived.
  ///   - tag: its entity tag.
  public static func response(
    language: String? = nil, time: Timestamp = start, tag: String = "\"1\""
  ) -> StoredResponse {
    var fields: HTTPFields = [.cacheControl: "max-age=3600", .eTag: tag]
    fields.append(HTTPField(name: .setCookie, value: "a=1"))
    fields.append(HTTPField(name: .setCookie, value: "b=2"))
    if language != nil { fields[.vary] = "Accept-Language" }
    return StoredResponse(
      requestMethod: .get,
      nominated: language.map { [NominatedField(name: .acceptLanguage, value: .text($0))] } ?? [],
      head: HTTPResponse(status: .ok, headerFields: fields), requestTime: time, responseTime: time,
      facts: ReuseFacts(freshnessLifetime: 3_600, lifetimeSource: .maxAge, correctedInitialAge: 0))
  }

  /// A record of such a response.
  public static func record(
    _ key: CacheKey = key(), language: String? = nil, time: Timestamp = start,
    tag: String = "\"1\"", bodyLength: Int64? = nil, groups: [String] = []
  ) -> CacheRecord {
    CacheRecord(
      key: key, response: response(language: language, time: time, tag: tag),
      bodyLength: bodyLength, groups: groups)
  }

  /// A record of such a response that only memory may keep.
  public static func memoryOnly(
    _ key: CacheKey = key(), language: String? = nil, time: Timestamp = start
  ) -> CacheRecord {
    CacheRecord(key: key, response: response(language: language, time: time), isMemoryOnly: true)
  }

  /// Bytes that differ by position and by seed.
  public static func body(_ count: Int, seed: UInt64 = 1) -> BodyBytes {
    BodyBytes(unsafeUninitializedCapacity: count) { buffer in
      var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
      var index = 0
      while index < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // Eight bytes at a time: checks write many megabytes without optimisation.
        let word = (state ^ state >> 29).littleEndian
        if index + 8 <= count {
          buffer.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
        } else {
          for last in index..<count {
            buffer[last] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (last - index)))
          }
        }
        index += 8
      }
      return count
    }
  }
}

extension BodyReader {
  /// The body from a position on, read in pieces.
  package func readAll(from start: Int64 = 0, piece: Int64 = 100_000) async throws(CacheError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let position = start + Int64(bytes.count)
      let part = try await read(position..<position + piece)
      if part.isEmpty { return bytes }
      part.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
  }
}

extension CacheStore {
  /// Stores a response in pieces.
  @discardableResult
  package func store(
    _ record: CacheRecord, _ body: BodyBytes, piece: Int = 60_000, variantLimit: Int = 8
  ) async throws(CacheError) -> CacheRecord {
    let writer = try await write(record, variantLimit: variantLimit)
    var rest = body
    while !rest.isEmpty {
      try await writer.append(rest.prefix(piece))
      rest = rest.dropFirst(piece)
    }
    return try await writer.commit(trailers: record.response.trailers)
  }

  /// Stores a response, unless the response to a later request is stored already.
  func storeIfLatest(_ record: CacheRecord, _ body: BodyBytes) async throws(CacheError) {
    do throws(CacheError) { try await store(record, body, piece: 7_000) } catch {
      guard error.code == .superseded else { throw error }
    }
  }

  /// The whole body of the only variant of a key; nil if there is none.
  package func onlyBody(_ key: CacheKey) async throws -> [UInt8]? {
    let variants = try read(key)
    guard let variant = variants.first else { return nil }
    try requireEqual(variants.count, 1, "variants")
    return try await variant.body.open().readAll()
  }

  /// All entries that match, read in pages.
  func all(_ selection: CacheSelection = .all, page: Int = 100) async throws(CacheError)
    -> [CacheEntry]
  {
    var entries: [CacheEntry] = []
    var cursor: EntryCursor?
    repeat {
      let part = try await self.entries(selection, after: cursor, limit: page)
      entries += part.entries
      cursor = part.next
    } while cursor != nil
    return entries
  }
}
