import HTTPTypes

/// Brings the values of nominated fields into a form in which equal ones are equal text
/// (RFC 9111 §4.1). Normalising twice is the same as once.
extension Vary {
  /// The value of a field that is there, all its lines combined.
  static func normalized(
    _ name: HTTPField.Name, in fields: HTTPFields, rules: CacheRules
  ) -> String {
    if rules.normalizesVary, isPreference(name), let text = preferences(name, in: fields) {
      return text
    }
    let separator = name == .cookie ? "; " : rules.normalizesVary ? "," : ", "
    var text = ""
    var isFirst = true
    for field in fields where field.name == name {
      if !isFirst { text += separator }
      isFirst = false
      if rules.normalizesVary, name != .cookie {
        field.withUnsafeBytesOfValue { text += withoutListWhitespace($0) }
      } else {
        field.withUnsafeBytesOfValue { text += $0.text }
      }
    }
    return text
  }

  /// A value without the whitespace around the commas outside of its quoted strings, as a list
  /// may have it or not (RFC 9110 §5.6.1).
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

  /// Fields that list preferences with weights, whose order means nothing (RFC 9110 §12.5).
  private static func isPreference(_ name: HTTPField.Name) -> Bool {
    name == .acceptEncoding || name == .acceptLanguage || name == .accept
      || name == FieldNames.acceptCharset
  }

  private struct Preference {
    var text: String
    var weight: Int
  }

  /// The members of a list of preferences in order of weight and then of text, with their names in
  /// lower case and their weights as short as possible; nil if one is malformed.
  private static func preferences(_ name: HTTPField.Name, in fields: HTTPFields) -> String? {
    var preferences: [Preference] = []
    var isMalformed = false
    fields.forEachMember(of: name) { member in
      guard !isMalformed else { return }
      if preferences.count < 256, let preference = preference(member) {
        preferences.append(preference)
      } else {
        isMalformed = true
      }
    }
    if isMalformed { return nil }
    preferences.sort { ($1.weight, $0.text) < ($0.weight, $1.text) }
    return preferences.map { $0.text + weightText($0.weight) }.joined(separator: ",")
  }

  private static func preference(_ member: Octets) -> Preference? {
    guard closesQuotes(member) else { return nil }
    var preference = Preference(text: "", weight: 1_000)
    var start = 0
    var isFirst = true
    while start <= member.count {
      let end = parameterEnd(member, from: start)
      let part = member.part(start..<end).trimmed()
      start = end + 1
      if isFirst {
        guard !part.isEmpty else { return nil }
        preference.text = part.lowercasedText
        isFirst = false
      } else if part.count > 1, part[0].lowercased == UInt8(ascii: "q"),
        part[1] == UInt8(ascii: "=")
      {
        guard let weight = weight(part.part(2..<part.count)) else { return nil }
        preference.weight = weight
      } else if !part.isEmpty {
        preference.text += ";" + part.text
      }
    }
    return preference
  }

  /// Whether every quoted string ends. One that does not would swallow the members that sorting
  /// puts behind it.
  private static func closesQuotes(_ member: Octets) -> Bool {
    var isQuoted = false
    var index = 0
    while index < member.count {
      if isQuoted, member[index] == UInt8(ascii: "\\") {
        index += 1
      } else if member[index] == UInt8(ascii: "\"") {
        isQuoted.toggle()
      }
      index += 1
    }
    return !isQuoted
  }

  /// The next semicolon outside of quoted strings, or the end.
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

  private static func weightText(_ thousandths: Int) -> String {
    if thousandths == 1_000 { return "" }
    if thousandths == 0 { return ";q=0" }
    var digits = String(thousandths + 1_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return ";q=0." + digits
  }
}
