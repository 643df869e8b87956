import HTTPCacheFiles
public import HTTPCacheSemantics
public import HTTPCacheStore

/// Seeds in an archive: one file, made by `ArchiveWriter` or `httpcache pack`.
///
/// ```swift
/// let cache = try HTTPCache.open(
///   HTTPCache.Configuration(directory: "cache", seeds: [try ArchiveSeed(path: "content.hca")]))
/// ```
///
/// Opening reads and checks the table of responses, 40 bytes for each, whatever the length of the archive. A head
/// and each block of 64 KiB of a body are checked when they are read: a damaged response counts as not stored.
public final class ArchiveSeed: SeedSource {
  /// The path of the archive.
  public let name: String
  /// The latest time at which a response was received.
  public let newest: Timestamp
  private let file: CacheFile
  private let entries: [ArchiveFormat.Entry]
  private let checked = CheckedPlaces()

  /// Opens an archive.
  ///
  /// - Throws: `CacheError.damaged` if the file is not an archive, was cut, or has a damaged table;
  ///   `CacheError.newerFormat` for an archive of a later version; `CacheError.tooLarge` if its bodies have more than
  ///   64 MiB and 50 times its length together, which `ArchiveWriter` never writes; `CacheError.io`.
  public convenience init(path: String) throws(CacheError) {
    let file = try CacheFile(path: path)
    try self.init(file, path)
    var limit = UnpackedLimit(length: try file.length())
    for entry in entries { try limit.take(entry.bodyLength, of: path) }
  }

  init(_ file: CacheFile, _ path: String) throws(CacheError) {
    name = path
    self.file = file
    let length = try file.length()
    guard length >= Int64(ArchiveFormat.headerLength + ArchiveFormat.footerLength) else {
      throw CacheError(.damaged, "\(path) is not an archive: it has \(length) bytes")
    }
    let header = try file.read(ArchiveFormat.headerLength, at: 0).array
    guard header == ArchiveFormat.header else {
      let isLater = header.starts(with: ArchiveFormat.magic.dropLast()) && header[7] > ArchiveFormat.magic[7]
      throw isLater
        ? CacheError(.newerFormat, "\(path) is an archive of a later version")
        : CacheError(.damaged, "\(path) is not an archive, or its beginning is damaged")
    }
    let end = try file.read(ArchiveFormat.footerLength, at: length - Int64(ArchiveFormat.footerLength)).array
    guard let footer = ArchiveFormat.Footer(end, fileLength: length) else {
      throw CacheError(.damaged, "\(path) was cut, or its end is damaged")
    }
    newest = Timestamp(seconds: footer.newest)
    let table = try file.read(Int(footer.count) * ArchiveFormat.entryLength, at: footer.tableOffset)
    guard table.withUnsafeBytes({ XXH64.hash($0) }) == footer.tableSum else {
      throw CacheError(.damaged, "the table of \(path) is damaged")
    }
    entries = try Self.entries(ArchiveFormat.words(table.array), footer: footer, path: path)
  }

  private static func entries(
    _ words: [UInt64], footer: ArchiveFormat.Footer, path: String
  ) throws(CacheError) -> [ArchiveFormat.Entry] {
    var entries: [ArchiveFormat.Entry] = []
    entries.reserveCapacity(Int(footer.count))
    for start in stride(from: 0, to: words.count, by: ArchiveFormat.entryLength / 8) {
      let parts = Array(words[start..<start + ArchiveFormat.entryLength / 8])
      guard let entry = ArchiveFormat.Entry.decode(parts, end: footer.tableOffset),
        entries.last.map({ $0.hash <= entry.hash }) ?? true
      else { throw CacheError(.damaged, "the table of \(path) has an entry outside of the file") }
      entries.append(entry)
    }
    return entries
  }

  /// The number of responses.
  public var count: Int { entries.count }

  /// The responses for a target, in the order in which they were added.
  ///
  /// - Throws: `CacheError.damaged` if a head is damaged, `CacheError.io`.
  /// - Complexity: O(log n) in the number of responses.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    let hash = ArchiveFormat.hash(target)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].hash < hash { low = middle + 1 } else { high = middle }
    }
    var found: [SeedResponse] = []
    while low < entries.count, entries[low].hash == hash {
      let response = try response(entries[low])
      if response.target == target { found.append(response) }
      low += 1
    }
    return found
  }

  /// The responses in the order of the table.
  ///
  /// - Throws: `CacheError.damaged` if a head is damaged, `CacheError.io`.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    var found: [SeedResponse] = []
    for entry in entries.dropFirst(max(0, position)).prefix(max(0, limit)) {
      found.append(try response(entry))
    }
    return found
  }

  private func response(_ entry: ArchiveFormat.Entry) throws(CacheError) -> SeedResponse {
    let record = try RecordCodec.decode(
      try file.read(Int(entry.recordLength), at: entry.recordOffset).array)
    guard record.bodyLength == entry.bodyLength, record.isComplete, record.key.methodClass == .get,
      ArchiveFormat.hash(record.key.target) == entry.hash
    else { throw CacheError(.damaged, "a head in \(name) does not belong to its body") }
    return SeedResponse(
      target: record.key.target, response: record.response, bodyLength: entry.bodyLength,
      body: ArchiveBody(entry, in: file, checked: checked), bodyPath: nil)
  }

  /// Reads and checks every head and every body.
  ///
  /// - Returns: one line for each damaged response; empty if the archive is sound.
  public func verify() async -> [String] {
    var damaged: [String] = []
    for (number, entry) in entries.enumerated() {
      do throws(CacheError) {
        let seed = try response(entry)
        do throws(CacheError) {
          try await seed.body.open().readPieces(of: 0..<seed.bodyLength) { _ in }
        } catch {
          damaged.append("\(seed.target): \(error.message)")
        }
      } catch { damaged.append("response \(number + 1): \(error.message)") }
    }
    return damaged
  }
}
