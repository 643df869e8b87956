import HTTPTypes

/// Normalises the values of nominated fields, so that equivalent values become equal text (RFC 9111 §4.1).
/// Normalising twice gives the same result as once.
extension Vary {
  /// The value of a field that is present, all its lines combined.
  static func normalized(
    _ name: HTTPField.Name, in fields: HTTPFields, rules: CacheRules
  ) -> String {
    if rules.normalizesVary, isPreference(name),
      let text = withPreferences(name, in: fields, { $0.map { String(decoding: $0, as: UTF8.self) } })
    {
      return text
    }
    if rules.normalizesVary, name != .cookie {
      // A quoted string that one line leaves open goes on in the next (RFC 9110 §5.3).
      return fields.combinedOctets(name).withUnsafeBufferPointer { withoutListWhitespace($0) }
    }
    let separator = name == .cookie ? "; " : ", "
    var text = ""
    var isFirst = true
    fields.forEachLine(of: name) { octets in
      if !isFirst { text += separator }
      isFirst = false
      text += octets.text
    }
    return text
  }

  /// A value without the optional whitespace around commas outside of quoted strings (RFC 9110 §5.6.1).
  private static func withoutListWhitespace(_ octets: Octets) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(octets.count)
    var isQuoted = false
    var index = 0
    while index < octets.count {
      let octet = octets[index]
      if isQuoted {
        if octet == UInt8(ascii: "\\"), index + 1 < octets.count {
          output.append(octet)
          index += 1
        } else if octet == UInt8(ascii: "\"") {
          isQuoted = false
        }
      } else if octet == UInt8(ascii: "\"") {
        isQuoted = true
      } else if octet == UInt8(ascii: ",") {
        while let last = output.last, last.isFieldWhitespace { output.removeLast() }
        while index + 1 < octets.count, octets[index + 1].isFieldWhitespace { index += 1 }
        output.append(octet)
        index += 1
        continue
      }
      output.append(octets[index])
      index += 1
    }
    return output.withUnsafeBufferPointer { $0.trimmed().text }
  }
}

/// Normalises lists of weighted preferences, whose order does not matter (RFC 9110 §12.5), on the stack:
/// every hit on a response with `Vary: Accept-Encoding` needs it.
extension Vary {
  /// Whether a field is such a list.
  static func isPreference(_ name: HTTPField.Name) -> Bool {
    let name = name.canonicalName
    switch name.utf8.count {
    case 6: return name == "accept"
    case 14: return name == "accept-charset"
    case 15: return name == "accept-encoding" || name == "accept-language"
    default: return false
    }
  }

  /// Calls `body` with the members of a list as UTF-8, sorted by weight and then by text, with names in lower
  /// case and weights as short as possible; with nil if a member is malformed.
  static func withPreferences<Result>(
    _ name: HTTPField.Name, in fields: HTTPFields, _ body: (Octets?) -> Result
  ) -> Result {
    var octetCount = 0
    var memberCount = 0
    fields.forEachLine(of: name) { octets in
      octetCount += octets.count
      memberCount += 1
      for octet in octets where octet == UInt8(ascii: ",") { memberCount += 1 }
    }
    // An octet takes at most two bytes in UTF-8, and normalising never makes a member longer.
    let textLimit = 2 * octetCount
    return withUnsafeTemporaryAllocation(
      of: Preference.self, capacity: min(memberCount, preferenceLimit)
    ) { preferences in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * textLimit + memberCount) { buffer in
        var texts = Writer(UnsafeMutableBufferPointer(rebasing: buffer[..<textLimit]))
        guard let count = readPreferences(name, in: fields, into: preferences, texts: &texts) else {
          return body(nil)
        }
        var sorted = UnsafeMutableBufferPointer(rebasing: preferences[..<count])
        let written = texts.octets
        sorted.sort { isBefore($0, $1, in: written) }
        var output = Writer(UnsafeMutableBufferPointer(rebasing: buffer[textLimit...]))
        for index in sorted.indices {
          if index > 0 { output.append(UInt8(ascii: ",")) }
          for octet in written[sorted[index].text] { output.append(octet) }
          output.appendWeight(sorted[index].weight)
        }
        return body(output.octets)
      }
    }
  }

  private static var preferenceLimit: Int { 256 }

  private struct Preference {
    /// The range of its text: name and parameters, without the weight.
    var text: Range<Int>
    /// The weight in thousandths.
    var weight: Int
  }

  /// Writes octets into memory that is large enough.
  private struct Writer {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    var octets: Octets { Octets(rebasing: buffer[..<count]) }

    mutating func append(_ octet: UInt8) {
      guard count < buffer.count else { return }
      buffer[count] = octet
      count += 1
    }

    /// Appends one character for an octet, like `Octets.text`.
    mutating func appendCharacter(_ octet: UInt8) {
      if octet < 0x80 { return append(octet) }
      append(0xC0 | octet >> 6)
      append(0x80 | octet & 0x3F)
    }

    mutating func appendWeight(_ thousandths: Int) {
      guard thousandths < 1_000 else { return }
      append(UInt8(ascii: ";"))
      append(UInt8(ascii: "q"))
      append(UInt8(ascii: "="))
      append(UInt8(ascii: "0"))
      var rest = thousandths
      var place = 100
      if rest > 0 { append(UInt8(ascii: ".")) }
      while rest > 0 {
        append(UInt8(ascii: "0") + UInt8(rest / place))
        rest %= place
        place /= 10
      }
    }
  }

  /// Orders by weight, highest first, then by text.
  private static func isBefore(_ lhs: Preference, _ rhs: Preference, in texts: Octets) -> Bool {
    if lhs.weight != rhs.weight { return lhs.weight > rhs.weight }
    let left = texts.part(lhs.text)
    let right = texts.part(rhs.text)
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      return left[index] < right[index]
    }
    return left.count < right.count
  }

  /// Reads the members.
  ///
  /// - Returns: the number of members; nil if one is malformed or there are too many.
  private static func readPreferences(
    _ name: HTTPField.Name, in fields: HTTPFields,
    into preferences: UnsafeMutableBufferPointer<Preference>, texts: inout Writer
  ) -> Int? {
    var count = 0
    var isMalformed = false
    fields.forEachLine(of: name) { octets in
      var members = FieldMembers(octets)
      while !isMalformed, let member = members.next() {
        let start = texts.count
        // A quoted string that does not end would include the members that sorting puts after it.
        if count < preferences.count, !members.isUnterminated,
          let weight = readPreference(member, into: &texts)
        {
          preferences.initializeElement(
            at: count, to: Preference(text: start..<texts.count, weight: weight))
          count += 1
        } else {
          isMalformed = true
        }
      }
    }
    return isMalformed ? nil : count
  }

  /// Reads one member.
  ///
  /// - Returns: its weight; nil if it is malformed.
  private static func readPreference(_ member: Octets, into texts: inout Writer) -> Int? {
    // Most members are only a name.
    if !member.contains(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "\"") }) {
      for octet in member { texts.appendCharacter(octet.lowercased) }
      return 1_000
    }
    var weight = 1_000
    var start = 0
    var isFirst = true
    while start <= member.count {
      let end = parameterEnd(member, from: start)
      let part = member.part(start..<end).trimmed()
      start = end + 1
      if isFirst {
        guard !part.isEmpty else { return nil }
        for octet in part { texts.appendCharacter(octet.lowercased) }
        isFirst = false
      } else if part.count > 1, part[0].lowercased == UInt8(ascii: "q"),
        part[1] == UInt8(ascii: "=")
      {
        guard let value = self.weight(part.part(2..<part.count)) else { return nil }
        weight = value
      } else if !part.isEmpty {
        texts.append(UInt8(ascii: ";"))
        for octet in part { texts.appendCharacter(octet) }
      }
    }
    return weight
  }

  /// The index of the next semicolon outside of quoted strings, or the end.
  private static func parameterEnd(_ member: Octets, from start: Int) -> Int {
    var index = start
    var isQuoted = false
    while index < member.count {
      let octet = member[index]
      if octet == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted, octet == UInt8(ascii: "\\") { index += 1 }
      if !isQuoted, octet == UInt8(ascii: ";") { return index }
      index += 1
    }
    return member.count
  }

  /// A `qvalue` in thousandths (RFC 9110 §12.4.2).
  private static func weight(_ octets: Octets) -> Int? {
    guard let first = octets.first, first == 0x30 || first == 0x31, octets.count <= 5 else {
      return nil
    }
    var thousandths = first == 0x31 ? 1_000 : 0
    guard octets.count > 1 else { return thousandths }
    guard octets[1] == UInt8(ascii: ".") else { return nil }
    var place = 100
    for octet in octets[2...] {
      guard octet.isDigit else { return nil }
      thousandths += Int(octet &- 0x30) * place
      place /= 10
    }
    return thousandths <= 1_000 ? thousandths : nil
  }
}
