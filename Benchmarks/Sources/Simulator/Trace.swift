import HTTPCacheLibC

/// Requests in their order, from a file of records of 16 bytes, little-endian: seconds (4 bytes),
/// number of the object (8), its size in bytes (4).
struct Trace {
  /// The name of its file.
  let name: String
  /// Objects by number, from 0, in the order of the requests.
  private(set) var requests: [Int32] = []
  /// The size of each object in bytes, the largest seen.
  private(set) var sizes: [Int64] = []

  private static let recordLength = 16

  /// Reads a file.
  ///
  /// - Returns: nil if it cannot be read or holds something else.
  init?(path: String) {
    guard let bytes = Self.bytes(of: path), !bytes.isEmpty, bytes.count % Self.recordLength == 0 else {
      return nil
    }
    name = path.split(separator: "/").last.map { String($0.prefix { $0 != "." }) } ?? path
    var numbers: [UInt64: Int32] = [:]
    requests.reserveCapacity(bytes.count / Self.recordLength)
    bytes.withUnsafeBytes { bytes in
      for record in stride(from: 0, to: bytes.count, by: Self.recordLength) {
        let id = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: record + 4, as: UInt64.self))
        let size = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: record + 12, as: UInt32.self))
        let number = numbers[id] ?? Int32(sizes.count)
        if Int(number) == sizes.count {
          numbers[id] = number
          sizes.append(0)
        }
        sizes[Int(number)] = max(sizes[Int(number)], Int64(size), 1)
        requests.append(number)
      }
    }
  }

  /// The bytes of all its objects.
  var footprint: Int64 { sizes.reduce(0, +) }

  /// Whether its objects have sizes.
  var hasSizes: Bool { sizes.contains { $0 != sizes[0] } }

  /// The bytes of all its requests.
  var requestedBytes: Double { requests.reduce(0) { $0 + Double(sizes[Int($1)]) } }

  private static func bytes(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
  }
}
