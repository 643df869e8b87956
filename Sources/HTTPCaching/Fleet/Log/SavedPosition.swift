import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPCacheStore

/// The position in the log that a directory keeps, so that a restarted node learns of the changes that it missed.
struct SavedPosition: Sendable, Hashable {
  /// The name of the file in the directory of a cache.
  static let fileName = "Fleet.position"
  // The nonce of a tier is random and short; a longer one is cut before it is compared.
  private static let longestNonce = 64

  /// The nonce of the log.
  let nonce: String
  /// The last entry that was read.
  let read: ReadPosition

  init(nonce: String, read: ReadPosition) {
    self.nonce = Self.cut(nonce)
    self.read = read
  }

  /// The nonce in the length that is kept.
  static func cut(_ nonce: String) -> String {
    String(decoding: nonce.utf8.prefix(longestNonce), as: UTF8.self)
  }

  // MARK: Bytes

  /// A mark, the position, the hash of the entry, the nonce with its length, and the XXH64 of all that.
  var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.fixed(Self.mark)
    writer.fixed(read.position.time)
    writer.fixed(read.position.number)
    writer.fixed(read.entry)
    let text = Array(nonce.utf8)
    writer.fixed(UInt64(text.count))
    var output = writer.output + text
    var end = BinaryWriter()
    end.fixed(XXH64.hash(output))
    output += end.output
    return output
  }

  private static let mark: UInt64 = 0x7465_656C_4631_6368

  /// Reads the bytes; nil if they are incomplete, damaged, or of another version.
  init?(bytes: [UInt8]) {
    guard bytes.count >= 48, Self.word(bytes[0..<8]) == Self.mark else { return nil }
    let length = Self.word(bytes[32..<40])
    guard length <= UInt64(Self.longestNonce), bytes.count == 48 + Int(length),
      Self.word(bytes[(bytes.count - 8)...]) == XXH64.hash(Array(bytes[..<(bytes.count - 8)]))
    else { return nil }
    nonce = String(decoding: bytes[40..<(40 + Int(length))], as: UTF8.self)
    read = ReadPosition(
      position: SharedPosition(time: Self.word(bytes[8..<16]), number: Self.word(bytes[16..<24])),
      entry: Self.word(bytes[24..<32]))
  }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: File

  /// The position in a file; nil without a readable one.
  static func read(from path: String) -> SavedPosition? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return nil }
    return SavedPosition(bytes: Array(bytes[..<count]))
  }

  /// Writes the position. A file that is cut short by a crash is not readable, and its node then takes all of its entries
  /// for invalidated.
  ///
  /// - Returns: whether it was written.
  func write(to path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = bytes
    let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    return count == bytes.count && ftruncate(descriptor, off_t(bytes.count)) == 0
  }
}
