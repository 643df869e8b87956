import HTTPTypes

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
    for field in self where field.name == name {
      let time = field.withUnsafeBytesOfValue { Timestamp(octets: $0, relativeTo: now) }
      switch (result, time) {
      case (.absent, let time?): result = .valid(time)
      case (.valid(let first), let time?) where first == time: break
      default: return .invalid
      }
    }
    return result
  }
}
