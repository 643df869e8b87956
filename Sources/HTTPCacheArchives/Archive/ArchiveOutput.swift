import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The bytes of an archive that is being written: each body in pieces, then its checksums and its record.
struct ArchiveOutput: ~Copyable {
  /// The place of a body whose checksums are written.
  struct Body: Sendable {
    let offset: Int64
    let length: Int64
  }

  let file: CacheFile
  private var position: Int64
  private var entries: [ArchiveFormat.Entry] = []
  private var newest: Int64 = 0
  private var start: Int64
  private var block: [UInt8] = []
  private var sums: [UInt8] = []

  /// Begins an archive at the start of an empty file.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  init(_ file: CacheFile) throws(CacheError) {
    self.file = file
    try file.write(BodyBytes(ArchiveFormat.header))
    position = Int64(ArchiveFormat.headerLength)
    start = position
  }

  /// Adds a piece to the body.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  mutating func append(_ bytes: BodyBytes) throws(CacheError) {
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(Int(ArchiveFormat.blockLength) - block.count)
      piece.withUnsafeBytes { block.append(contentsOf: $0) }
      rest = rest.dropFirst(piece.count)
      if block.count == Int(ArchiveFormat.blockLength) { try endBlock() }
    }
  }

  private mutating func endBlock() throws(CacheError) {
    let number = (position - start) / ArchiveFormat.blockLength
    ArchiveFormat.append(block.withUnsafeBytes { ArchiveFormat.sum($0, number: number) }, to: &sums)
    try write(block)
    block.removeAll(keepingCapacity: true)
  }

  private mutating func write(_ bytes: [UInt8]) throws(CacheError) {
    try file.write(BodyBytes(bytes))
    position += Int64(bytes.count)
  }

  /// Ends the body.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  mutating func endBody() throws(CacheError) -> Body {
    if !block.isEmpty { try endBlock() }
    let body = Body(offset: start, length: position - start)
    try write(sums)
    sums.removeAll(keepingCapacity: true)
    start = position
    return body
  }

  /// Forgets the pieces of a body that has not ended.
  ///
  /// - Throws: `CacheError.io`.
  mutating func discardBody() throws(CacheError) {
    block.removeAll(keepingCapacity: true)
    sums.removeAll(keepingCapacity: true)
    guard ftruncate(file.descriptor, off_t(start)) == 0, lseek(file.descriptor, off_t(start), SEEK_SET) >= 0
    else { throw CacheFile.failure("write an archive again") }
    position = start
  }

  /// Adds a response whose body was written. Two responses may have one body.
  ///
  /// - Parameter replaced: the number of an earlier response that this one replaces.
  /// - Returns: the number of the response.
  /// - Throws: `CacheError.invalidRequest` for a response that no request without secrets selects,
  ///   `CacheError.tooLarge` for a head that is too long or for too many responses, `CacheError.io`,
  ///   `CacheError.noSpace`.
  @discardableResult
  mutating func add(
    _ target: String, _ response: StoredResponse, body: Body, replacing replaced: Int? = nil
  ) throws(CacheError) -> Int {
    guard entries.count < Int(ArchiveFormat.mostEntries) else {
      throw CacheError(.tooLarge, "an archive has at most \(ArchiveFormat.mostEntries) responses")
    }
    let record = try RecordCodec.encode(try Self.record(of: response, to: target, length: body.length))
    let entry = ArchiveFormat.Entry(
      hash: ArchiveFormat.hash(target), recordOffset: position, recordLength: Int64(record.count),
      bodyOffset: body.offset, bodyLength: body.length)
    try write(record)
    start = position
    newest = max(newest, response.responseTime.seconds)
    if let replaced {
      entries[replaced] = entry
      return replaced
    }
    entries.append(entry)
    return entries.count - 1
  }

  /// The record in the archive: the part of a response that every cache may use.
  private static func record(
    of response: StoredResponse, to target: String, length: Int64
  ) throws(CacheError) -> CacheRecord {
    var response = response
    for field in response.nominated {
      if case .digest = field.value {
        throw CacheError(.invalidRequest, "\(target) answers only requests with a secret \(field.name)")
      }
    }
    response.head.headerFields[fields: .setCookie] = []
    return CacheRecord(
      key: CacheKey(mode: .private, target: target), response: response, bodyLength: length, isSeed: true)
  }

  /// Writes the table and the end.
  ///
  /// - Returns: the length of the archive in bytes.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  mutating func finish() throws(CacheError) -> Int64 {
    var table: [UInt8] = []
    table.reserveCapacity(entries.count * ArchiveFormat.entryLength)
    // Equal hashes stay in the order of the list: it is the order of preference.
    let sorted = entries.enumerated().sorted {
      $0.element.hash == $1.element.hash ? $0.offset < $1.offset : $0.element.hash < $1.element.hash
    }
    for entry in sorted { entry.element.encode(to: &table) }
    let footer = ArchiveFormat.Footer(
      tableOffset: position, count: Int64(entries.count), tableSum: XXH64.hash(table), newest: newest)
    try write(table)
    try write(footer.bytes)
    return position
  }
}
