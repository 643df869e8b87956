import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheSemantics

/// The file of `SeedMarks`: records of 32 bytes, appended under a lock, each with a checksum.
///
/// A record: kind (1 byte), zeros (7), time in seconds (8), hash of the scope (8), XXH64 of these 24 bytes (8), with
/// the least significant byte first. An incomplete record at the end is one whose writer failed; the next
/// writer removes it.
struct SeedMarkFile: Sendable {
  /// One record.
  struct Mark: Sendable, Hashable {
    let kind: SeedMarks.Kind
    /// Seconds since 1970.
    let until: Int64
    /// `InvalidationScope.hash`.
    let scope: UInt64

    var subject: SeedMarks.Subject { SeedMarks.Subject(kind: kind, scope: scope) }
  }

  static let recordLength = 32
  // A file of more records becomes one mark for everything.
  private static let limit = 65_536

  let path: String

  /// The state of the file, which differs after each change; nil if the file does not exist.
  var state: FileState? { FileState(path: path) }

  /// The marks; none without a file, nil if the file cannot be read or is damaged.
  func read() -> [Mark]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT ? [] : nil }
    defer { close(descriptor) }
    return Self.read(descriptor)
  }

  private static func read(_ descriptor: Int32) -> [Mark]? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size <= off_t(limit * 2 * recordLength) else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size) / recordLength * recordLength)
    let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: 0) }
    guard count == bytes.count else { return nil }
    var marks: [Mark] = []
    for start in stride(from: 0, to: bytes.count, by: recordLength) {
      guard let mark = decode(Array(bytes[start..<start + recordLength])) else { return nil }
      marks.append(mark)
    }
    return marks
  }

  /// Adds records, and waits until they are on the disk. A damaged file begins anew: everything is then
  /// invalidated.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func append(_ marks: [Mark]) throws(CacheError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw CacheFile.failure("cannot open the marks of seeds") }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CacheFile.failure("cannot lock the marks of seeds") }
    }
    let present = Self.read(descriptor)
    let everything = InvalidationScope.everything.hash
    let until = marks.map(\.until).max() ?? 0
    var (start, records) = ((present?.count ?? 0) * Self.recordLength, marks)
    if present == nil {
      (start, records) = (0, [Mark(kind: .invalidated, until: until, scope: everything)] + marks)
    } else if let present, present.count + marks.count > Self.limit {
      let isRemoved = (present + marks).contains { $0.kind == .removed }
      let last = max(until, present.map(\.until).max() ?? until)
      (start, records) = (
        0, [Mark(kind: isRemoved ? .removed : .invalidated, until: last, scope: everything)]
      )
    }
    // Write the records that replace the file before it is cut: a crash in between leaves the old ones, too.
    let bytes = records.flatMap(Self.encode)
    guard lseek(descriptor, off_t(start), SEEK_SET) >= 0,
      bytes.withUnsafeBytes({ Descriptor.writeAll($0, to: descriptor) }) == 0,
      ftruncate(descriptor, off_t(start + bytes.count)) == 0, fsync(descriptor) == 0
    else { throw CacheFile.failure("cannot write the marks of seeds") }
  }

  static func encode(_ mark: Mark) -> [UInt8] {
    var writer = BinaryWriter()
    writer.fixed(UInt64(mark.kind.rawValue))
    writer.fixed(UInt64(bitPattern: mark.until))
    writer.fixed(mark.scope)
    writer.fixed(XXH64.hash(writer.output))
    return writer.output
  }

  static func decode(_ bytes: [UInt8]) -> Mark? {
    guard bytes.count == recordLength, word(bytes[24...]) == XXH64.hash(Array(bytes[..<24])),
      let kind = SeedMarks.Kind(rawValue: bytes[0])
    else { return nil }
    return Mark(kind: kind, until: Int64(bitPattern: word(bytes[8..<16])), scope: word(bytes[16..<24]))
  }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
