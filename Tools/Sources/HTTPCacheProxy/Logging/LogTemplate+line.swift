#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension LogTemplate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The line about a request, with its line feed.
  func line(_ entry: AccessLog.Entry, at time: timespec) -> String {
    var line = ""
    for part in parts {
      switch part {
      case .text(let text): line += text
      case .client: line += entry.client
      case .time: line += Self.text(time)
      case .requestLine: line += Self.escaped("\(entry.method) \(entry.target) \(entry.version)")
      case .method: line += Self.escaped(entry.method)
      case .target: line += Self.escaped(entry.target)
      case .status: line += "\(entry.status)"
      case .bytes: line += "\(entry.bytes)"
      case .bytesOrDash: line += entry.bytes == 0 ? "-" : "\(entry.bytes)"
      case .microseconds: line += "\(entry.microseconds)"
      case .seconds: line += "\(entry.microseconds / 1_000_000)"
      case .outcome: line += entry.outcome
      case .reason: line += entry.refusal.map { Self.escaped($0) } ?? "-"
      case .field(let index):
        line +=
          entry.fields.indices.contains(index) ? entry.fields[index].map { Self.escaped($0) } ?? "-" : "-"
      }
    }
    return line + "\n"
  }

  /// Text that cannot end its quotes or its line, whatever a client sends.
  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 >= 0x7F }) else {
      return text
    }
    var escaped = ""
    for octet in text.utf8 {
      switch octet {
      case 0x22: escaped += "\\\""
      case 0x5C: escaped += "\\\\"
      case 0x20..<0x7F: escaped.unicodeScalars.append(Unicode.Scalar(octet))
      default: escaped += "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
      }
    }
    return escaped
  }

  private static func text(_ time: timespec) -> String {
    var seconds = time.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let month = months.indices.contains(Int(parts.tm_mon)) ? months[Int(parts.tm_mon)] : "-"
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { AccessLog.pad($0, 2) }.joined(
      separator: ":")
    return "\(AccessLog.pad(parts.tm_mday, 2))/\(month)/\(parts.tm_year + 1900):\(clock) +0000"
  }
}
