import HTTPCacheSemantics
import HTTPCacheStore

/// Which bytes of a part file are there.
struct PartState: Equatable {
  /// Identifies the body; another file of its name has none of these bytes.
  var inode: UInt64
  /// Names the run of the system that wrote the bytes.
  var boot = BootID.current
  /// Whether bytes were only added at the end, so that the length of the file says how many there are.
  var isStream = true
  /// The bytes that were written: ascending, apart. Of a stream, those at the last sync.
  var written: [Range<Int64>] = []
  /// The written bytes that are on the disk, also after a power loss.
  var synced: [Range<Int64>] = []

  /// The bytes that can be relied on. What an earlier run of the system wrote and did not sync may be lost.
  ///
  /// - Parameters:
  ///   - size: the length of the file.
  ///   - length: the length of the representation, if known; a longer file has something else.
  func kept(size: Int64, length: Int64?) -> [Range<Int64>] {
    guard size <= length ?? .max else { return [] }
    let isSameRun = boot == BootID.current && !boot.isEmpty
    let stream = size > 0 ? [0..<size] : []
    let kept = isSameRun ? (isStream ? stream : written) : synced
    return kept.last?.upperBound ?? 0 <= size ? kept : []
  }

  /// The bytes that are not in `ranges`, of a file of a length.
  static func missing(_ ranges: [Range<Int64>], of length: Int64) -> [Range<Int64>] {
    var (missing, end): ([Range<Int64>], Int64) = ([], 0)
    for range in ranges {
      if range.lowerBound > end { missing.append(end..<range.lowerBound) }
      end = max(end, range.upperBound)
    }
    if end < length { missing.append(end..<length) }
    return missing
  }

  /// The bytes of ranges before an offset.
  static func clip(_ ranges: [Range<Int64>], to offset: Int64) -> [Range<Int64>] {
    ranges.map { $0.clamped(to: 0..<offset) }.filter { !$0.isEmpty }
  }

  /// The bytes of ranges that are not in another range.
  static func without(_ range: Range<Int64>, _ ranges: [Range<Int64>]) -> [Range<Int64>] {
    ranges.flatMap { other -> [Range<Int64>] in
      [other.clamped(to: 0..<range.lowerBound), other.clamped(to: range.upperBound..<Int64.max)]
    }.filter { !$0.isEmpty }
  }

  /// The bytes that are in both lists.
  static func common(_ ranges: [Range<Int64>], _ others: [Range<Int64>]) -> [Range<Int64>] {
    ranges.flatMap { range in others.map { range.clamped(to: $0) } }.filter { !$0.isEmpty }
  }

  // MARK: The record beside the body

  /// The record of a part file: checksum, state, response.
  func encoded(with record: PartRecord) -> [UInt8] {
    var writer = BinaryWriter()
    writer.fixed(inode)
    writer.text(boot)
    writer.byte(isStream ? 1 : 0)
    for ranges in [written, synced] {
      writer.count(ranges.count)
      for range in ranges {
        writer.signed(range.lowerBound)
        writer.signed(range.upperBound)
      }
    }
    record.encode(to: &writer)
    let sum = writer.output.withUnsafeBytes { XXH64.hash($0) }
    return withUnsafeBytes(of: sum.littleEndian) { Array($0) } + writer.output
  }

  /// - Returns: nil for bytes that `encoded` did not make.
  static func decoded(_ bytes: [UInt8]) -> (state: PartState, record: PartRecord)? {
    guard bytes.count > 8 else { return nil }
    return bytes.withUnsafeBytes { bytes in
      let payload = UnsafeRawBufferPointer(rebasing: bytes[8...])
      guard XXH64.hash(payload) == bytes.loadUnaligned(as: UInt64.self).littleEndian else { return nil }
      return try? decoded(payload)
    }
  }

  private static func decoded(
    _ payload: UnsafeRawBufferPointer
  ) throws(CacheError) -> (state: PartState, record: PartRecord) {
    var reader = BinaryReader(payload)
    var state = PartState(inode: try reader.fixed(), boot: try reader.text())
    state.isStream = try reader.byte() == 1
    state.written = try ranges(&reader)
    state.synced = try ranges(&reader)
    let record = try PartRecord(&reader)
    guard reader.remaining == 0, StoredRanges.areParts(state.written, of: record.length),
      StoredRanges.areParts(state.synced, of: record.length)
    else { throw BinaryReader.damaged("ranges overlap, or bytes after the end") }
    return (state, record)
  }

  private static func ranges(_ reader: inout BinaryReader) throws(CacheError) -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    for _ in 0..<(try reader.count(ofSize: 2)) {
      let (start, end) = (try reader.signed(), try reader.signed())
      guard start >= 0, start < end else { throw BinaryReader.damaged("no range") }
      ranges.append(start..<end)
    }
    return ranges
  }
}
