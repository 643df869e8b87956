import HTTPTypes

/// Walks the members of a list-based field value (RFC 9110 §5.6.1): separated by commas outside of
/// quoted strings, without the whitespace around them, empty ones left out.
struct FieldMembers {
  private let octets: Octets
  private var position = 0

  init(_ octets: Octets) { self.octets = octets }

  mutating func next() -> Octets? {
    while position < octets.count {
      let start = position
      var isQuoted = false
      while position < octets.count {
        let octet = octets[position]
        if isQuoted {
          if octet == UInt8(ascii: "\\") { position += 1 }
          if octet == UInt8(ascii: "\"") { isQuoted = false }
        } else if octet == UInt8(ascii: "\"") {
          isQuoted = true
        } else if octet == UInt8(ascii: ",") {
          break
        }
        position += 1
      }
      let member = octets.part(start..<Swift.min(position, octets.count)).trimmed()
      position += 1
      if !member.isEmpty { return member }
    }
    return nil
  }
}

extension HTTPFields {
  /// Calls `body` for each member of each line of a list-based field, in order.
  func forEachMember(of name: HTTPField.Name, _ body: (Octets) -> Void) {
    for field in self where field.name == name {
      field.withUnsafeBytesOfValue { octets in
        var members = FieldMembers(octets)
        while let member = members.next() { body(member) }
      }
    }
  }

  /// The first line with a name.
  func first(_ name: HTTPField.Name) -> HTTPField? {
    first { $0.name == name }
  }

  /// Removes every line with a name.
  mutating func remove(_ name: HTTPField.Name) {
    if contains(name) { self[fields: name] = [] }
  }
}
