import HTTPCacheSemantics

/// Computes the checksums of an archive of one response again, after a test changed its table.
enum ArchiveSums {
  static func renewed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let footer = bytes.count - 64
    put(XXH64.hash(Array(bytes[(footer - 40)..<footer])), at: footer + 24, in: &bytes)
    put(XXH64.hash(Array(bytes[footer..<bytes.count - 8])), at: bytes.count - 8, in: &bytes)
    return bytes
  }

  private static func put(_ word: UInt64, at place: Int, in bytes: inout [UInt8]) {
    for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)) }
  }
}
