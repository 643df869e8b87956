package import HTTPTypes
import RawStructuredFieldValues

extension CacheStatus {
  /// The member as text of the field (RFC 9211 §2, RFC 9651 §4.1).
  ///
  /// Name and detail are tokens if possible. Characters that a string of a structured field cannot contain are
  /// percent-encoded.
  package var fieldValue: String {
    var value = Self.tokenOrString(name)
    if hit { value += "; hit" }
    if let fwd { value += "; fwd=\(fwd.rawValue)" }
    if let fwdStatus { value += "; fwd-status=\(Self.bounded(Int64(fwdStatus)))" }
    if let ttl { value += "; ttl=\(Self.bounded(ttl))" }
    if let stored { value += stored ? "; stored" : "; stored=?0" }
    if let collapsed { value += collapsed ? "; collapsed" : "; collapsed=?0" }
    if let key { value += "; key=" + Self.string(key) }
    if let detail { value += "; detail=" + Self.tokenOrString(detail) }
    return value
  }

  /// Adds a member after those of the caches closer to the origin (RFC 9211 §2).
  package static func appended(_ status: CacheStatus, to fields: inout HTTPFields) {
    // bounded: each cache on the way adds one.
    fields.append(HTTPField(name: FieldNames.cacheStatus, value: status.fieldValue))
  }

  /// The members of a field, starting with the cache closest to the origin; nil if the field is malformed.
  ///
  /// Parameters that are unknown or of the wrong type are ignored.
  package static func list(in fields: HTTPFields) -> [CacheStatus]? {
    let value = fields.combinedOctets(FieldNames.cacheStatus)
    var parser = StructuredFieldValueParser(value)
    guard value.count <= 65_536, let members = try? parser.parseListFieldValue() else { return nil }
    var list: [CacheStatus] = []
    for member in members {
      guard case .item(let item) = member, let status = CacheStatus(item) else { return nil }
      list.append(status)
    }
    return list
  }

  private init?(_ item: Item) {
    switch item.rfc9651BareItem {
    case .string(let name), .token(let name): self.init(name: name)
    default: return nil
    }
    for (key, value) in item.rfc9651Parameters {
      switch (key, value) {
      case ("hit", .bool(let isHit)): hit = isHit
      case ("fwd", .token(let reason)): fwd = Forward(rawValue: reason)
      case ("fwd-status", .integer(let code)): fwdStatus = Int(exactly: code)
      case ("ttl", .integer(let seconds)): ttl = seconds
      case ("stored", .bool(let isStored)): stored = isStored
      case ("collapsed", .bool(let isCollapsed)): collapsed = isCollapsed
      case ("key", .string(let text)): self.key = text
      case ("detail", .string(let text)), ("detail", .token(let text)): detail = text
      default: break
      }
    }
  }

  private static func bounded(_ number: Int64) -> Int64 {
    min(max(number, -greatestDeltaSeconds), greatestDeltaSeconds)
  }

  private static func tokenOrString(_ text: String) -> String {
    isToken(text) ? text : string(text)
  }

  /// Whether it is a Token (RFC 9651 §3.3.4).
  private static func isToken(_ text: String) -> Bool {
    guard let first = text.utf8.first, first.isLetter || first == UInt8(ascii: "*") else {
      return false
    }
    return text.utf8.allSatisfy {
      $0.isTokenOctet || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
    }
  }

  private static func string(_ text: String) -> String {
    var output: [UInt8] = [UInt8(ascii: "\"")]
    for octet in text.utf8 {
      switch octet {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        output.append(UInt8(ascii: "\\"))
        output.append(octet)
      case 0x20...0x7E: output.append(octet)
      default:
        output.append(UInt8(ascii: "%"))
        for digit in [octet >> 4, octet & 15] {
          output.append(digit < 10 ? 0x30 + digit : 0x37 + digit)
        }
      }
    }
    output.append(UInt8(ascii: "\""))
    return String(decoding: output, as: UTF8.self)
  }
}
