import HTTPCacheSemantics
import HTTPTypes

/// The path that a forward proxy is asked for, and passes on as it is (RFC 9110 §7.7).
enum ForwardPath {
  /// Whether the response may be stored and used under the normal form of the path: the spellings differ only in the letter
  /// case of escapes, or in an escape for `~`, which clients by RFC 1738 write. No origin tells these apart
  /// (RFC 3986 §6.2.2.1, §6.2.2.2).
  ///
  /// Other spellings, such as `/%61`, go past the cache: some origins answer them with an error, which clients with the
  /// normal spelling would get. Dot segments that are not escaped belong to the key, and need no other spelling.
  static func sharesKey(_ request: HTTPRequest) -> Bool {
    guard let path = request.path, GatewayPath.needsNormalising(path) else { return true }
    return CacheKey.target(of: request)?.hasSuffix(spelled(path)) == true
  }

  /// The path with capital letters in its escapes, and without an escape for `~`.
  private static func spelled(_ path: String) -> String {
    var octets = Array(path.utf8)
    var (read, written) = (0, 0)
    while read < octets.count {
      if octets[read] == UInt8(ascii: "%"), read + 2 < octets.count, octets[read + 1].isHex,
        octets[read + 2].isHex
      {
        let (high, low) = (octets[read + 1].upper, octets[read + 2].upper)
        read += 3
        if high == UInt8(ascii: "7"), low == UInt8(ascii: "E") {
          octets[written] = UInt8(ascii: "~")
          written += 1
        } else {
          octets.replaceSubrange(written..<written + 3, with: [UInt8(ascii: "%"), high, low])
          written += 3
        }
      } else {
        octets[written] = octets[read]
        (read, written) = (read + 1, written + 1)
      }
    }
    return String(decoding: octets[..<written], as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isHex: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
      UInt8(ascii: "a")...UInt8(ascii: "f"):
      true
    default: false
    }
  }

  /// A small letter as a capital one.
  fileprivate var upper: UInt8 { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self }
}
