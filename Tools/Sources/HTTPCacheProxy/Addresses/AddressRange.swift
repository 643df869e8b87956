/// A range of addresses in CIDR notation (RFC 4632 §3.1).
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  private let first: IPAddress
  private let bits: Int

  /// Parses `10.0.0.0/8`, `fd00::/8`, or one address; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
    let width = address.octets.count * 8
    first = address
    guard parts.count == 2 else {
      bits = width
      return
    }
    guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let bits = Int(parts[1]),
      bits <= width
    else { return nil }
    self.bits = bits
  }

  /// Whether an address is in the range; never one of the other family.
  public func contains(_ address: IPAddress) -> Bool {
    guard address.octets.count == first.octets.count else { return false }
    let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
    guard address.octets[..<whole] == first.octets[..<whole] else { return false }
    return rest == 0 || (address.octets[whole] ^ first.octets[whole]) >> (8 - rest) == 0
  }

  /// The range in CIDR notation.
  public var description: String { "\(first)/\(bits)" }
}
