import HTTPCacheSemantics
import HTTPCacheStore

/// The layout of an archive (docs/archives.md). Integers have the least significant byte first.
enum ArchiveFormat {
  static let magic: [UInt8] = Array("HTTPARC1".utf8)
  static let footerMagic: [UInt8] = Array("HTTPIDX1".utf8)
  static let headerLength = 16
  static let footerLength = 64
  static let entryLength = 40
  /// Bytes of a body that have one checksum.
  static let blockLength: Int64 = 64 << 10
  /// The maximum number of responses: their table is kept in memory.
  static let mostEntries: UInt64 = 4 << 20

  /// The header. The zeros are for later versions, which this one then refuses.
  static let header: [UInt8] = magic + [UInt8](repeating: 0, count: headerLength - magic.count)

  /// The place of one response.
  struct Entry: Sendable, Equatable {
    /// XXH64 of the target.
    var hash: UInt64
    var recordOffset: Int64
    var recordLength: Int64
    var bodyOffset: Int64
    var bodyLength: Int64

    /// The checksums of the blocks follow the body.
    var sumsOffset: Int64 { bodyOffset + bodyLength }
    var sumsLength: Int64 { ArchiveFormat.blocks(bodyLength) * 8 }

    func encode(to bytes: inout [UInt8]) {
      for word in [
        hash, UInt64(recordOffset), UInt64(recordLength), UInt64(bodyOffset), UInt64(bodyLength),
      ] { ArchiveFormat.append(word, to: &bytes) }
    }

    /// Reads an entry; nil if its places are not in the file, before the table.
    static func decode(_ words: [UInt64], end: Int64) -> Entry? {
      let places = words.dropFirst().map { Int64(exactly: $0) }
      guard words.count == 5, let record = places[0], let recordLength = places[1], let body = places[2],
        let bodyLength = places[3]
      else { return nil }
      let entry = Entry(
        hash: words[0], recordOffset: record, recordLength: recordLength, bodyOffset: body,
        bodyLength: bodyLength)
      let start = Int64(headerLength)
      guard bodyLength <= end, recordLength <= Int64(RecordCodec.longestRecord),
        record >= start, body >= start, record <= end - recordLength,
        body <= end - bodyLength, entry.sumsOffset <= end - entry.sumsLength
      else { return nil }
      return entry
    }
  }

  /// The end of an archive.
  struct Footer: Sendable, Equatable {
    var tableOffset: Int64
    var count: Int64
    var tableSum: UInt64
    /// The latest time at which a response was received, in seconds since 1970.
    var newest: Int64

    var bytes: [UInt8] {
      var bytes = footerMagic
      for word in [
        UInt64(tableOffset), UInt64(count), tableSum, UInt64(bitPattern: newest),
        UInt64(tableOffset + count * Int64(entryLength) + Int64(footerLength)), 0,
      ] { append(word, to: &bytes) }
      append(XXH64.hash(bytes), to: &bytes)
      return bytes
    }

    /// Reads a footer; nil if it is not that of a file of this length.
    init?(_ bytes: [UInt8], fileLength: Int64) {
      guard bytes.count == footerLength, bytes.starts(with: footerMagic) else { return nil }
      let words = ArchiveFormat.words(bytes)
      guard words[7] == XXH64.hash(Array(bytes.dropLast(8))), words[2] <= mostEntries, words[6] == 0,
        words[5] == UInt64(fileLength), let tableOffset = Int64(exactly: words[1]),
        tableOffset >= Int64(headerLength),
        tableOffset == fileLength - Int64(footerLength) - Int64(words[2]) * Int64(entryLength)
      else { return nil }
      self.init(
        tableOffset: tableOffset, count: Int64(words[2]), tableSum: words[3],
        newest: Int64(bitPattern: words[4]))
    }

    init(tableOffset: Int64, count: Int64, tableSum: UInt64, newest: Int64) {
      self.tableOffset = tableOffset
      self.count = count
      self.tableSum = tableSum
      self.newest = newest
    }
  }

  /// The number of blocks of a body.
  static func blocks(_ length: Int64) -> Int64 { (length + blockLength - 1) / blockLength }

  /// The checksum of a block. Its number is part of it, so that blocks of one body cannot change places.
  static func sum(_ block: UnsafeRawBufferPointer, number: Int64) -> UInt64 {
    XXH64.hash(block, seed: UInt64(number))
  }

  static func hash(_ target: String) -> UInt64 { XXH64.hash(Array(target.utf8)) }

  static func append(_ word: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> shift))
    }
  }

  /// The bytes as words of 8 bytes.
  static func words(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { buffer in
      stride(from: 0, to: buffer.count / 8 * 8, by: 8).map {
        UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
  }
}
