public import HTTPTypes

/// A field whose value is an HTTP-date (RFC 9110 §5.6.7).
enum FieldDate {
  case absent
  case invalid
  case valid(Timestamp)

  /// The time, if it is valid.
  var time: Timestamp? {
    if case .valid(let time) = self { time } else { nil }
  }
}

extension HTTPFields {
  /// The date in the first line with a name. A further line with another value makes it invalid, so that the
  /// response counts as stale (RFC 9111 §4.2.1).
  func date(_ name: HTTPField.Name, relativeTo now: Timestamp) -> FieldDate {
    var result = FieldDate.absent
    forEachLine(of: name) { octets in
      switch (result, Timestamp(octets: octets, relativeTo: now)) {
      case (.absent, let time?): result = .valid(time)
      case (.valid(let first), let time?) where first == time: break
      default: result = .invalid
      }
    }
    return result
  }
}

/// When the origin asks to be asked again (RFC 9110 §10.2.3).
public enum RetryAfter {
  /// The seconds that a response asks to wait; nil without a valid `Retry-After`.
  ///
  /// - Parameters:
  ///   - fields: the header fields of the response.
  ///   - now: the time that a date is compared with.
  public static func seconds(_ fields: HTTPFields, now: Timestamp) -> Int64? {
    guard let value = fields[.retryAfter], !value.isEmpty else { return nil }
    if value.utf8.allSatisfy(\.isDigit) { return Int64(value) ?? .max }
    return Timestamp(httpDate: value, relativeTo: now).map { max(0, $0 - now) }
  }
}
