public import HTTPTypes

/// Iterates over the members of a list-based field value (RFC 9110 §5.6.1): separated by commas outside of
/// quoted strings, trimmed of whitespace, without empty members.
struct FieldMembers {
  private let octets: Octets
  private var position = 0
  /// Whether the last member has a quoted string without an end; this member then extends to the end of the
  /// value.
  private(set) var isUnterminated = false

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
      isUnterminated = isQuoted
      let member = octets.part(start..<Swift.min(position, octets.count)).trimmed()
      position += 1
      if !member.isEmpty { return member }
    }
    return nil
  }
}

extension HTTPFields {
  /// The index of the first line with a name at or after `start`; nil if there is none. Faster than a look-up by name,
  /// because lengths are compared before texts, and no value is copied.
  ///
  /// - Parameters:
  ///   - name: the name, whose case does not matter.
  ///   - start: an index of these fields, or their end.
  public func firstIndex(of name: HTTPField.Name, from start: Int = 0) -> Int? {
    let name = name.canonicalName
    let count = name.utf8.count
    var index = start
    while index < endIndex {
      let other = self[index].name.canonicalName
      if other.utf8.count == count, other == name { return index }
      index += 1
    }
    return nil
  }

  /// Calls `body` for each line with this name, in order.
  func forEachLine(of name: HTTPField.Name, _ body: (Octets) -> Void) {
    var next = firstIndex(of: name)
    while let index = next {
      self[index].withUnsafeBytesOfValue(body)
      next = firstIndex(of: name, from: index + 1)
    }
  }

  /// Calls `body` for each member of each line of a list-based field, in order.
  func forEachMember(of name: HTTPField.Name, _ body: (Octets) -> Void) {
    forEachLine(of: name) { octets in
      var members = FieldMembers(octets)
      while let member = members.next() { body(member) }
    }
  }

  /// The first line with this name.
  func first(_ name: HTTPField.Name) -> HTTPField? {
    firstIndex(of: name).map { self[$0] }
  }

  /// The line with this name, if there is exactly one.
  func only(_ name: HTTPField.Name) -> HTTPField? {
    guard let index = firstIndex(of: name), firstIndex(of: name, from: index + 1) == nil else { return nil }
    return self[index]
  }

  /// Removes every line with this name.
  public mutating func remove(_ name: HTTPField.Name) {
    guard let index = firstIndex(of: name) else { return }
    if firstIndex(of: name, from: index + 1) == nil {
      remove(at: index)
    } else {
      self[fields: name] = []
    }
  }
}

extension HTTPFields {
  /// The octets of all lines of a field as one list (RFC 9110 §5.3).
  func combinedOctets(_ name: HTTPField.Name) -> [UInt8] {
    var value: [UInt8] = []
    forEachLine(of: name) { octets in
      if !value.isEmpty { value.append(UInt8(ascii: ",")) }
      value.append(contentsOf: octets)
    }
    return value
  }
}

extension HTTPFields {
  /// The most fields of a head, or of trailers, that come from outside of the program: from an origin, a client, a file
  /// or an argument. `HTTPFields` ends the process at 65,535 fields; this limit leaves enough for two heads in one.
  public static let countLimit = 16_384

  /// Adds a field that comes from outside of the program.
  ///
  /// - Returns: false if there are already `countLimit` fields; the field is then not added.
  public mutating func appendBounded(_ field: HTTPField) -> Bool {
    guard count < Self.countLimit else { return false }
    // bounded: the line before compares with the limit.
    append(field)
    return true
  }
}
