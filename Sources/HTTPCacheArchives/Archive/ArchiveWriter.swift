import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes an archive of responses, which an `ArchiveSeed` reads.
///
/// The bytes of an archive follow from its responses and their order alone: equal input makes equal files. The file
/// appears under its name when it is complete; an existing file is then replaced.
///
/// ```swift
/// let writer = try ArchiveWriter(path: "content.hca")
/// try await writer.add(contentsOf: try FolderSeed(path: "PreCache"))
/// try await writer.finish()
/// ```
public actor ArchiveWriter {
  private let path: String
  private let temporaryPath: String
  private let file: SystemFile
  private var position: Int64
  private var entries: [ArchiveFormat.Entry] = []
  private var newest: Int64 = 0
  private var isDone = false

  /// Begins an archive, in a temporary file beside `path`.
  ///
  /// - Throws: `CacheError.io` or `CacheError.noSpace` if the file cannot be made.
  public init(path: String) throws(CacheError) {
    self.path = path
    temporaryPath = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    file = try SystemFile(path: temporaryPath, flags: O_WRONLY | O_CREAT | O_EXCL)
    do throws(CacheError) {
      try file.write(BodyBytes(ArchiveFormat.header))
    } catch {
      unlink(temporaryPath)
      throw error
    }
    position = Int64(ArchiveFormat.headerLength)
  }

  deinit { if !isDone { unlink(temporaryPath) } }

  /// Adds all responses of a source, in the order of its list. Cookies are left out (`Set-Cookie`).
  ///
  /// - Returns: the number of responses added.
  /// - Throws: what reading the source throws, `CacheError.io`, `CacheError.noSpace`.
  @discardableResult
  public func add(contentsOf source: any SeedSource) async throws(CacheError) -> Int {
    var number = 0
    while true {
      let page = try source.responses(from: number, limit: 64)
      for seed in page { try await add(seed) }
      number += page.count
      if page.isEmpty { return number }
    }
  }

  /// Adds a response. Its cookies are left out (`Set-Cookie`).
  ///
  /// - Throws: `CacheError.invalidRequest` for a response that no request without secrets selects, what reading
  ///   its body throws, `CacheError.tooLarge` for a head that is too long or for too many responses,
  ///   `CacheError.io`, `CacheError.noSpace`.
  public func add(_ seed: SeedResponse) async throws(CacheError) {
    guard entries.count < Int(ArchiveFormat.mostEntries) else {
      throw CacheError(.tooLarge, "an archive has at most \(ArchiveFormat.mostEntries) responses")
    }
    let record = try RecordCodec.encode(try Self.record(of: seed))
    let body = position
    var sums: [UInt8] = []
    let reader = try seed.body.open()
    for number in 0..<ArchiveFormat.blocks(seed.bodyLength) {
      let start = number * ArchiveFormat.blockLength
      let range = start..<min(seed.bodyLength, start + ArchiveFormat.blockLength)
      let block = try await Self.block(range, of: reader)
      ArchiveFormat.append(block.withUnsafeBytes { ArchiveFormat.sum($0, number: number) }, to: &sums)
      try append(block)
    }
    try append(BodyBytes(sums))
    entries.append(
      ArchiveFormat.Entry(
        hash: ArchiveFormat.hash(seed.target), recordOffset: position, recordLength: Int64(record.count),
        bodyOffset: body, bodyLength: seed.bodyLength))
    try append(BodyBytes(record))
    newest = max(newest, seed.response.responseTime.seconds)
  }

  /// The record in the archive: what every cache may use.
  private static func record(of seed: SeedResponse) throws(CacheError) -> CacheRecord {
    var response = seed.response
    for field in response.nominated {
      if case .digest = field.value {
        throw CacheError(.invalidRequest, "\(seed.target) answers only requests with a secret \(field.name)")
      }
    }
    response.head.headerFields[fields: .setCookie] = []
    return CacheRecord(
      key: CacheKey(mode: .private, target: seed.target), response: response, bodyLength: seed.bodyLength,
      isSeed: true)
  }

  /// Reads a whole block; a reader may return less than asked.
  private static func block(
    _ range: Range<Int64>, of reader: any BodyReader
  ) async throws(CacheError) -> BodyBytes {
    var pieces: [BodyBytes] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let piece = try await reader.read(start..<range.upperBound)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the body ends at byte \(start)") }
      pieces.append(piece)
      start += Int64(piece.count)
    }
    return BodyBytes(joining: pieces)
  }

  private func append(_ bytes: BodyBytes) throws(CacheError) {
    try file.write(bytes)
    position += Int64(bytes.count)
  }

  /// Writes the table, waits until the file is on the disk, and gives it its name. The writer takes nothing
  /// afterwards.
  ///
  /// - Returns: the length of the archive in bytes.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.closed` when called again.
  @discardableResult
  public func finish() throws(CacheError) -> Int64 {
    guard !isDone else { throw CacheError(.closed, "the archive is finished") }
    var table: [UInt8] = []
    table.reserveCapacity(entries.count * ArchiveFormat.entryLength)
    // Equal hashes stay in the order of the list: it is the order of preference.
    let sorted = entries.enumerated().sorted {
      $0.element.hash == $1.element.hash ? $0.offset < $1.offset : $0.element.hash < $1.element.hash
    }
    for entry in sorted { entry.element.encode(to: &table) }
    let footer = ArchiveFormat.Footer(
      tableOffset: position, count: Int64(entries.count), tableSum: XXH64.hash(table), newest: newest)
    try append(BodyBytes(table))
    try append(BodyBytes(footer.bytes))
    guard fsync(file.descriptor) == 0 else { throw SystemFile.failure("sync \(temporaryPath)") }
    guard rename(temporaryPath, path) == 0 else { throw SystemFile.failure("rename to \(path)") }
    isDone = true
    return position
  }
}
