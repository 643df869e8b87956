import HTTPCacheStore
import HTTPCaching

extension DownloadRecord {
  static func encode(_ part: PartRecord, to writer: inout BinaryWriter) {
    writer.signed(Int64(bitPattern: part.inode))
    writer.signed(part.length)
    writer.text(part.boot)
    for ranges in [part.written, part.synced] {
      writer.count(ranges.count)
      for range in ranges {
        writer.signed(range.lowerBound)
        writer.signed(range.upperBound)
      }
    }
  }

  static func part(_ reader: inout BinaryReader) throws(CacheError) -> PartRecord {
    let inode = UInt64(bitPattern: try reader.signed())
    let length = try reader.signed()
    let boot = try reader.text()
    let written = try ranges(&reader, length)
    let synced = try ranges(&reader, length)
    return PartRecord(inode: inode, length: length, written: written, synced: synced, boot: boot)
  }

  private static func ranges(
    _ reader: inout BinaryReader, _ length: Int64
  ) throws(CacheError) -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    for _ in 0..<(try reader.count(ofSize: 2)) {
      let (start, end) = (try reader.signed(), try reader.signed())
      guard start >= 0, start < end else { throw BinaryReader.damaged("no range") }
      ranges.append(start..<end)
    }
    guard StoredRanges.areParts(ranges, of: length) else { throw BinaryReader.damaged("ranges overlap") }
    return ranges
  }
}
