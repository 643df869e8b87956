import HTTPTypes

/// The names of the fields that a plain request may have.
enum FieldNameTable {
  /// The fields that are part of the key. A response whose `Vary` names another field has no prepared answer.
  static let keyedNames: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, .origin]

  /// The kind of a field by its name; nil for a field that a plain request must not have.
  static func field(_ name: UnsafeRawBufferPointer) -> PlainRequest.Field? {
    switch name.count {
    case 3: isEqual(name, "dnt") ? .ignored : nil
    case 4: isEqual(name, "host") ? .host : nil
    case 6:
      // For reuse, cookies matter only where `Vary` names them (RFC 9111 §4.1).
      isEqual(name, "accept")
        ? .accept : isEqual(name, "origin") ? .origin : isEqual(name, "cookie") ? .ignored : nil
    case 7: isEqual(name, "referer") || isEqual(name, "sec-gpc") ? .ignored : nil
    case 8: isEqual(name, "priority") ? .ignored : nil
    case 9: isEqual(name, "sec-ch-ua") ? .ignored : nil
    case 10: isEqual(name, "user-agent") ? .ignored : isEqual(name, "connection") ? .connection : nil
    case 14:
      isEqual(name, "sec-fetch-site") || isEqual(name, "sec-fetch-mode") || isEqual(name, "sec-fetch-dest")
        || isEqual(name, "sec-fetch-user") ? .ignored : nil
    case 15:
      isEqual(name, "accept-encoding")
        ? .acceptEncoding : isEqual(name, "accept-language") ? .acceptLanguage : nil
    case 16: isEqual(name, "sec-ch-ua-mobile") ? .ignored : nil
    case 18: isEqual(name, "sec-ch-ua-platform") ? .ignored : nil
    case 25: isEqual(name, "upgrade-insecure-requests") ? .ignored : nil
    default: nil
    }
  }

  /// Whether octets without control characters are `text`, ignoring case.
  ///
  /// - Parameter text: lower-case letters, spaces and hyphens.
  static func isEqual(_ octets: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard octets.count == text.utf8CodeUnitCount else { return false }
    // Only control characters and upper-case letters become such a character with this bit.
    for index in 0..<octets.count where octets[index] | 0x20 != text.utf8Start[index] { return false }
    return true
  }
}
