import HTTPTypes

/// How old a stored response is (RFC 9111 §4.2.3, §5.1).
public enum Age {
  /// The current age in seconds: the age on arrival plus the time since then.
  ///
  /// If the clock was set back, the time since arrival counts as 0; the sum saturates.
  public static func current(_ stored: StoredResponse, now: Timestamp) -> Int64 {
    let residentTime = max(0, now - stored.responseTime)
    return min(
      max(0, stored.facts.correctedInitialAge).saturatingAdd(residentTime), greatestDeltaSeconds)
  }

  /// The value of `Age`: its first member, 0 if that is not a number of seconds (§5.1).
  static func received(_ fields: HTTPFields) -> Int64 {
    guard let field = fields.first(.age) else { return 0 }
    return field.withUnsafeBytesOfValue { octets in
      var members = FieldMembers(octets)
      return members.next()?.deltaSeconds ?? 0
    }
  }
}
