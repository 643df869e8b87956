/// One line of progress: a bar, the bytes, the rate and the time left.
struct ProgressText {
  /// Bytes so far.
  var received: Int64
  /// Bytes in all, if known.
  var total: Int64?
  /// Bytes per second; 0 while unknown.
  var rate: Double
  /// Transfers that ended, and all of them.
  var done: Int
  var transfers: Int

  /// The line, at most `width` columns.
  func line(width: Int) -> String {
    var facts: [String] = []
    if transfers > 1 { facts.append("\(done)/\(transfers)") }
    if let total {
      facts.append("\(HumanText.bytes(received)) of \(HumanText.bytes(total))")
    } else {
      facts.append(HumanText.bytes(received))
    }
    if rate > 0 {
      facts.append("\(HumanText.bytes(Int64(min(rate, 1e18))))/s")
      if let total, total > received {
        facts.append("\(Self.clock(Double(total - received) / rate)) left")
      }
    }
    let text = facts.joined(separator: "  ")
    guard let total, total > 0 else { return String(text.prefix(width)) }
    let share = min(1, max(0, Double(received) / Double(total)))
    let percent = "\(Int(share * 100)) %"
    let padded = String(repeating: " ", count: 5 - percent.count) + percent
    let room = width - text.count - padded.count - 6
    guard room >= 10 else { return String("\(padded)  \(text)".prefix(width)) }
    let length = min(room, 40)
    let filled = Int(share * Double(length))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: length - filled)
    return "[\(bar)] \(padded)  \(text)"
  }

  /// Seconds in the form of a clock: `0:03`, `1:02:03`.
  static func clock(_ seconds: Double) -> String {
    guard seconds < 360_000 else { return "100 h or more" }
    let whole = Int(seconds.rounded(.up))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let tail = (rest < 10 ? "0" : "") + "\(rest)"
    return hours > 0 ? "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(tail)" : "\(minutes):\(tail)"
  }
}
