import HTTPCacheLibC
import HTTPTypes

/// Common field names of responses, found by their bytes, so that decoding a record does not allocate new
/// names.
struct CommonFieldNames {
  /// The bytes of all names, one after the other.
  private let bytes: [UInt8]
  /// The start of each name, and the end of the last one.
  private let starts: [Int]
  private let names: [HTTPField.Name]
  /// One more than the index of a name, in its slot or in a later one; 0 for a free slot.
  private let slots: [UInt8]

  private static let slotCount = 512
  private static let all = CommonFieldNames()

  private init() {
    let names = [
      "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
      "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
      "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "Cache-Status", "CF-Cache-Status",
      "CF-Ray", "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language",
      "Content-Length", "Content-Location", "Content-Range", "Content-Security-Policy", "Content-Type",
      "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Date", "ETag", "Expires",
      "Last-Modified",
      "Link", "Location", "NEL", "Permissions-Policy", "Pragma", "Referrer-Policy", "Report-To", "Server",
      "Server-Timing", "Set-Cookie", "Strict-Transport-Security", "Timing-Allow-Origin", "Vary", "Via",
      "X-Cache", "X-Cache-Hits", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By", "X-Request-Id",
      "X-Served-By", "X-Timer", "X-XSS-Protection",
    ]
    var (bytes, starts, made): ([UInt8], [Int], [HTTPField.Name]) = ([], [0], [])
    var slots = [UInt8](repeating: 0, count: Self.slotCount)
    for text in names + names.map({ $0.lowercased() }) {
      guard let name = HTTPField.Name(text) else { continue }
      var slot = Array(text.utf8).withUnsafeBytes { Self.slot($0) }
      while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
      made.append(name)
      slots[slot] = UInt8(made.count)
      bytes += text.utf8
      starts.append(bytes.count)
    }
    (self.bytes, self.starts, self.names, self.slots) = (bytes, starts, made, slots)
  }

  /// - Parameter bytes: not empty.
  private static func slot(_ bytes: UnsafeRawBufferPointer) -> Int {
    (bytes.count &* 37 &+ Int(bytes[0]) &* 5 &+ Int(bytes[bytes.count - 1]) &* 11) % slotCount
  }

  /// The common name with exactly these bytes; nil if there is none.
  static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
    bytes.isEmpty ? nil : all.name(bytes)
  }

  private func name(_ wanted: UnsafeRawBufferPointer) -> HTTPField.Name? {
    bytes.withUnsafeBytes { bytes in
      var slot = Self.slot(wanted)
      while slots[slot] != 0 {
        let number = Int(slots[slot]) - 1
        let known = UnsafeRawBufferPointer(rebasing: bytes[starts[number]..<starts[number + 1]])
        if known.count == wanted.count, Self.areEqual(known, wanted) { return names[number] }
        slot = (slot + 1) % Self.slotCount
      }
      return nil
    }
  }

  private static func areEqual(_ known: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
    guard let one = known.baseAddress, let other = wanted.baseAddress else { return false }
    return memcmp(one, other, wanted.count) == 0
  }
}
