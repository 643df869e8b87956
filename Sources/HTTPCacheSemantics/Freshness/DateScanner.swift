/// Reads the parts of the three formats of an HTTP-date at their fixed positions (RFC 9110 §5.6.7).
struct DateScanner {
  let octets: Octets

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  func fixdate() -> Int64? {
    guard isWeekday(octets.part(0..<3)), isSpace(4), isSpace(7), isSpace(11), isSpace(16),
      isZone(25), let day = number(5, 2), let month = month(8), let year = number(12, 4),
      let time = time(17)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)?.seconds(plus: time)
  }

  /// `Sun Nov  6 08:49:37 1994`
  func asctime() -> Int64? {
    guard isWeekday(octets.part(0..<3)), isSpace(3), isSpace(7), isSpace(10), isSpace(19),
      let month = month(4), let day = isSpace(8) ? number(9, 1) : number(8, 2),
      let time = time(11), let year = number(20, 4)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)?.seconds(plus: time)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  func rfc850(relativeTo now: Timestamp) -> Int64? {
    let start = octets.count - 24
    guard (6...9).contains(start), octets[start] == UInt8(ascii: ","),
      isLongWeekday(octets.part(0..<start)), isSpace(start + 1), isDash(start + 4),
      isDash(start + 8), isSpace(start + 11), isZone(start + 20),
      let day = number(start + 2, 2), let month = month(start + 5),
      let twoDigits = number(start + 9, 2), let time = time(start + 12)
    else { return nil }
    let clamped = min(max(now.seconds, Timestamp.firstSecond), Timestamp.lastSecond)
    let today = CivilDate(daysSince1970: Int((clamped - Timestamp.firstSecond) / 86_400) - 719_528)
    let limit = CivilDate(unchecked: today.year + 50, today.month, today.day)
      .seconds(plus: Int((clamped - Timestamp.firstSecond) % 86_400))
    var year = today.year / 100 * 100 + 100 + twoDigits
    while year >= 0 {
      let date = CivilDate(unchecked: year, month, day)
      if date.seconds(plus: time) <= limit {
        return CivilDate(year: year, month: month, day: day)?.seconds(plus: time)
      }
      year -= 100
    }
    return nil
  }

  private func isSpace(_ index: Int) -> Bool { octets[index] == 0x20 }
  private func isDash(_ index: Int) -> Bool { octets[index] == UInt8(ascii: "-") }

  /// A space and `GMT`, the only zone.
  private func isZone(_ index: Int) -> Bool {
    octets.part(index..<octets.count).isCaseInsensitively(" gmt")
  }

  private func number(_ index: Int, _ count: Int) -> Int? {
    octets.part(index..<index + count).decimal.map { Int($0) }
  }

  /// Seconds since midnight. A leap second counts as the second before it, so that an expiration time never
  /// becomes later than stated (RFC 9111 §4.2).
  private func time(_ index: Int) -> Int? {
    guard octets[index + 2] == UInt8(ascii: ":"), octets[index + 5] == UInt8(ascii: ":"),
      let hour = number(index, 2), let minute = number(index + 3, 2),
      let second = number(index + 6, 2), hour < 24, minute < 60, second <= 60
    else { return nil }
    return hour * 3_600 + minute * 60 + min(second, 59)
  }

  private func month(_ index: Int) -> Int? {
    place(of: octets.part(index..<index + 3), in: "janfebmaraprmayjunjulaugsepoctnovdec")
      .map { $0 + 1 }
  }

  private func isWeekday(_ name: Octets) -> Bool {
    place(of: name, in: "sunmontuewedthufrisat") != nil
  }

  private func isLongWeekday(_ name: Octets) -> Bool {
    name.isCaseInsensitively("sunday") || name.isCaseInsensitively("monday")
      || name.isCaseInsensitively("tuesday") || name.isCaseInsensitively("wednesday")
      || name.isCaseInsensitively("thursday") || name.isCaseInsensitively("friday")
      || name.isCaseInsensitively("saturday")
  }

  /// The index of a three-letter name in a sequence of such names.
  private func place(of name: Octets, in names: StaticString) -> Int? {
    for start in stride(from: 0, to: names.utf8CodeUnitCount, by: 3) {
      if name[0].lowercased == names.utf8Start[start]
        && name[1].lowercased == names.utf8Start[start + 1]
        && name[2].lowercased == names.utf8Start[start + 2]
      {
        return start / 3
      }
    }
    return nil
  }
}
