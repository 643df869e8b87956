extension HTTP1Model {
  /// A request line (RFC 9112 §3) or a status line (RFC 9112 §4).
  struct StartLine {
    let minorVersion: UInt8
    /// 0 in a request.
    let status: Int

    init?(_ line: [UInt8], _ direction: HTTP1Transcript.Direction) {
      let version: [UInt8]
      if direction == .requests {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map(Array.init)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isTokenByte),
          (1...HTTP1Transcript.limits.targetBytes).contains(words[1].count),
          words[1].allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 })
        else { return nil }
        version = words[2]
        status = 0
      } else {
        guard line.count >= 12, line[8] == 0x20, line.count == 12 || line[12] == 0x20,
          !line.contains(0), !line.contains(0x0D),
          let code = Int(String(decoding: line[9..<12], as: UTF8.self)), (100...999).contains(code),
          line[9..<12].allSatisfy(\.isDigit)
        else { return nil }
        version = Array(line[..<8])
        status = code
      }
      guard version.count == 8, version.starts(with: "HTTP/1.".utf8), version[7].isDigit else { return nil }
      minorVersion = version[7] - 0x30
    }
  }
}

extension UInt8 {
  var isBlank: Bool { self == 0x20 || self == 0x09 }
  var isDigit: Bool { (0x30...0x39).contains(self) }
  var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
  /// RFC 9110 §5.6.2.
  var isTokenByte: Bool {
    isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
      || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}

extension Collection<UInt8> {
  /// Without spaces and tabs around it.
  var trimmed: [UInt8] {
    let tail = Array(drop { $0.isBlank }).reversed().drop { $0.isBlank }
    return tail.reversed()
  }

  /// A to Z as a to z.
  var lowercased: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
}
