import HTTPTypes

/// An entity tag in a field value (RFC 9110 §8.8.3), valid only as long as its octets.
struct EntityTag {
  /// Whether it has the prefix `W/`.
  let isWeak: Bool
  /// The octets between the quotes.
  let opaque: Octets
  /// The number of octets of the tag.
  let length: Int

  /// Reads a tag at the start of `octets`; case matters, and there are no escapes.
  init?(prefix octets: Octets) {
    let isWeak =
      octets.count > 1 && octets[0] == UInt8(ascii: "W") && octets[1] == UInt8(ascii: "/")
    let open = isWeak ? 2 : 0
    guard open < octets.count, octets[open] == UInt8(ascii: "\"") else { return nil }
    var end = open + 1
    while end < octets.count, octets[end] != UInt8(ascii: "\"") {
      guard octets[end] > 0x20, octets[end] != 0x7F else { return nil }
      end += 1
    }
    guard end < octets.count else { return nil }
    self.isWeak = isWeak
    opaque = octets.part((open + 1)..<end)
    length = end + 1
  }

  /// Reads a field value that is exactly one tag.
  init?(_ octets: Octets) {
    self.init(prefix: octets)
    guard length == octets.count else { return nil }
  }

  /// Strong comparison (§8.8.3.2): neither is weak, and they are equal.
  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && opaque.isEqual(to: other.opaque)
  }

  /// Weak comparison (§8.8.3.2): they are equal, weak or not.
  func matchesWeakly(_ other: EntityTag) -> Bool { opaque.isEqual(to: other.opaque) }
}

extension HTTPFields {
  /// Whether there is one `ETag`, and it is valid and strong.
  var hasOneStrongTag: Bool {
    only(.eTag) != nil && withEntityTag { $0.map { !$0.isWeak } ?? false }
  }

  /// Whether `ETag` matches a tag by strong comparison.
  func matchStrongly(_ tag: EntityTag) -> Bool { withEntityTag { $0.map(tag.matchesStrongly) ?? false } }

  /// Calls `body` with the tag of `ETag`, nil if there is no valid one.
  func withEntityTag<Result>(_ body: (EntityTag?) -> Result) -> Result {
    guard let field = first(.eTag) else { return body(nil) }
    return field.withUnsafeBytesOfValue { body(EntityTag($0)) }
  }

  /// Calls `body` for each tag of a list of tags; stops at the first octet that is not part of a tag.
  func forEachEntityTag(in name: HTTPField.Name, _ body: (EntityTag) -> Void) {
    forEachLine(of: name) { octets in
      var rest = octets
      while let start = rest.firstIndex(where: { !$0.isFieldWhitespace && $0 != 0x2C }),
        let tag = EntityTag(prefix: rest.part(start..<rest.count))
      {
        body(tag)
        rest = rest.part((start + tag.length)..<rest.count)
      }
    }
  }
}
