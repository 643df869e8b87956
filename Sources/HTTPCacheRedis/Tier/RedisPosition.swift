#if Redis
  import HTTPCaching

  extension SharedPosition {
    /// The position that text such as `1700000000000-3` names; nil for any other text.
    init?(_ text: String?) {
      guard let parts = text?.split(separator: "-", omittingEmptySubsequences: false), parts.count == 2,
        let time = UInt64(parts[0]), let number = UInt64(parts[1]), parts[0].first != "+",
        parts[1].first != "+"
      else { return nil }
      self.init(time: time, number: number)
    }

    /// 40 digits, which are ordered as positions are.
    var digits: String { Self.padded(time, to: 20) + Self.padded(number, to: 20) }

    /// The position that 40 digits are; nil for any other text.
    init?(digits: some Collection<UInt8>) {
      guard digits.count == 40, digits.allSatisfy({ (0x30...0x39).contains($0) }),
        let time = UInt64(String(decoding: digits.prefix(20), as: UTF8.self)),
        let number = UInt64(String(decoding: digits.suffix(20), as: UTF8.self))
      else { return nil }
      self.init(time: time, number: number)
    }

    /// A number with zeros before it.
    static func padded(_ number: some BinaryInteger, to count: Int, radix: Int = 10) -> String {
      let digits = String(number, radix: radix)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
  }
#endif
