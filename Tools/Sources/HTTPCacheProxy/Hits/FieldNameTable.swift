import HTTPTypes

/// The names of the fields that a plain request may have.
enum FieldNameTable {
  /// The fields that are part of the key. A response whose `Vary` names another field has no prepared answer.
  static let keyedNames: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, .origin]

  /// The kind of a field by its name; nil for a field that a plain request must not have.
  static func field(_ name: UnsafeRawBufferPointer) -> PlainRequest.Field? {
    switch name.count {
    case 2: isEqual(name, "b3") ? .ignored : nil
    case 3: isEqual(name, "dnt") ? .ignored : nil
    case 4: isEqual(name, "host") ? .host : nil
    case 6:
      // For reuse, cookies matter only where `Vary` names them (RFC 9111 §4.1).
      isEqual(name, "accept")
        ? .accept : isEqual(name, "origin") ? .origin : isEqual(name, "cookie") ? .ignored : nil
    case 7:
      isEqual(name, "referer") || isEqual(name, "sec-gpc") || isEqual(name, "baggage") ? .ignored : nil
    case 8: isEqual(name, "priority") ? .ignored : nil
    case 9:
      isEqual(name, "sec-ch-ua") || isEqual(name, "save-data") || isEqual(name, "x-real-ip") ? .ignored : nil
    case 10:
      isEqual(name, "user-agent") || isEqual(name, "tracestate")
        ? .ignored : isEqual(name, "connection") ? .connection : nil
    case 11: isEqual(name, "traceparent") ? .ignored : nil
    case 12: isEqual(name, "x-request-id") ? .ignored : nil
    case 14:
      isEqual(name, "sec-fetch-site") || isEqual(name, "sec-fetch-mode") || isEqual(name, "sec-fetch-dest")
        || isEqual(name, "sec-fetch-user") ? .ignored : nil
    case 15:
      isEqual(name, "accept-encoding")
        ? .acceptEncoding
        : isEqual(name, "accept-language")
          ? .acceptLanguage
          // Tells the origin alone of the client; scheme and host, which other fields tell, separate responses.
          : isEqual(name, "x-forwarded-for") || isEqual(name, "x-amzn-trace-id") ? .ignored : nil
    case 16:
      isEqual(name, "sec-ch-ua-mobile") || isEqual(name, "x-correlation-id")
        || isEqual(name, "x-requested-with") ? .ignored : nil
    case 18: isEqual(name, "sec-ch-ua-platform") ? .ignored : nil
    case 21: isEqual(name, "x-cloud-trace-context") ? .ignored : nil
    case 25: isEqual(name, "upgrade-insecure-requests") ? .ignored : nil
    default: nil
    }
  }

  /// Whether octets without control characters are `text`, ignoring case.
  ///
  /// - Parameter text: lower-case letters, digits, spaces and hyphens.
  static func isEqual(_ octets: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard octets.count == text.utf8CodeUnitCount else { return false }
    // Only control characters and upper-case letters become such a character with this bit; it is set in the others.
    for index in 0..<octets.count where octets[index] | 0x20 != text.utf8Start[index] { return false }
    return true
  }
}
