import HTTPCacheSemantics

/// An XXH64 for each 256 KiB of a stored body.
struct BlockChecksums: Sendable {
  static let blockLength: Int64 = 256 << 10
  /// How many are kept in one row.
  static let perRow = 64

  var values: [UInt64] = []

  /// The number of blocks of a body.
  static func count(length: Int64) -> Int { Int((length + blockLength - 1) / blockLength) }

  /// The checksums that a row keeps: 8 bytes each, least significant first.
  static func encode(_ values: ArraySlice<UInt64>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * 8)
    for value in values { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }

  mutating func append(encoded bytes: UnsafeRawBufferPointer) {
    for index in 0..<(bytes.count / 8) {
      values.append(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)))
    }
  }
}
