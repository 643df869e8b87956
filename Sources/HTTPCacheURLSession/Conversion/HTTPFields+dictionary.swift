import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

extension HTTPFields {
  /// The fields of a Foundation dictionary, sorted by name.
  ///
  /// Foundation joins lines with equal names by commas. That changes the meaning (RFC 9110 §5.3) only of
  /// `Set-Cookie`, whose lines are split again. Names that are not tokens are dropped; control characters in
  /// values become spaces. Fields above `HTTPFields.countLimit` are dropped.
  init(_ dictionary: [AnyHashable: Any]) {
    self.init()
    var pairs: [(name: String, value: String)] = []
    pairs.reserveCapacity(dictionary.count)
    for case let (name as String, value as String) in dictionary { pairs.append((name, value)) }
    pairs.sort { $0.name < $1.name }
    reserveCapacity(pairs.count)
    for field in pairs {
      guard let name = HTTPField.Name(field.name) else { continue }
      if name == .setCookie {
        for cookie in Self.cookies(in: field.value)
        where !appendBounded(HTTPField(name: name, value: cookie)) { return }
      } else if !appendBounded(HTTPField(name: name, value: field.value)) {
        return
      }
    }
  }

  /// The fields as Foundation expects them: one value per name with joined lines, and `Cookie` joined as in
  /// RFC 6265 §5.4.
  var dictionary: [String: String] {
    var joined: [HTTPField.Name: (name: String, value: String)] = [:]
    for field in self {
      let separator = field.name == .cookie ? "; " : ", "
      if let before = joined[field.name] {
        joined[field.name]?.value = before.value + separator + field.text
      } else {
        joined[field.name] = (field.name.rawName, field.text)
      }
    }
    return Dictionary(uniqueKeysWithValues: joined.values.map { ($0.name, $0.value) })
  }

  /// The lines of a joined `Set-Cookie`: a comma separates two lines if a cookie's name and `=` follow, which
  /// never happens inside a date.
  private static func cookies(in value: String) -> [String] {
    var cookies: [String] = []
    var start = value.startIndex
    var search = start
    while let comma = value[search...].firstIndex(of: ",") {
      let after = value.index(after: comma)
      let next = value[after...].drop { $0 == " " || $0 == "\t" }
      let name = next.prefix { !" \t=;,".contains($0) }
      if !name.isEmpty, name.endIndex < value.endIndex, value[name.endIndex] == "=" {
        cookies.append(String(value[start..<comma]))
        start = next.startIndex
        search = name.endIndex
      } else {
        search = after
      }
    }
    cookies.append(String(value[start...]))
    return cookies.filter { !$0.isEmpty }
  }
}

extension HTTPField {
  /// The value as text: decoded as UTF-8, or if invalid, octet by octet as ISO 8859-1.
  var text: String {
    withUnsafeBytesOfValue { octets in
      if let text = String(validating: octets, as: UTF8.self) { return text }
      return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }
  }
}
