#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes a line for each request.
public final class AccessLog: Sendable {
  /// The format of a line.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// No lines.
    case none
    /// Fields with spaces between them.
    case plain
    /// A JSON object.
    case json
  }

  /// The facts about a finished request.
  struct Entry: Sendable {
    var client: String
    var method: String
    var target: String
    var status: Int
    var bytes: Int64
    var microseconds: Int64
    var outcome: String
    /// Why the response was not stored.
    var refusal: String?
  }

  private let format: Format
  private let writer: LineWriter?

  /// Makes a log.
  ///
  /// - Parameter descriptor: where lines are written, by default standard output; not closed.
  public init(_ format: Format, descriptor: Int32 = 1) {
    self.format = format
    writer = format == .none ? nil : LineWriter(descriptor: descriptor)
  }

  /// Whether lines are written.
  var isOn: Bool { writer != nil }

  /// Adds a line.
  func add(_ entry: Entry) { writer?.add(render(entry)) }

  /// Waits until every line is written, or the reader of the log stops reading.
  func flush() async { await writer?.flush() }

  private func render(_ entry: Entry) -> String {
    let milliseconds = "\(entry.microseconds / 1000).\(Self.pad(entry.microseconds % 1000, 3))"
    switch format {
    case .none: return ""
    case .plain:
      return
        "\(Self.now()) \(entry.client) \(entry.method) \(entry.target) \(entry.status) \(entry.bytes) \(milliseconds)ms \(entry.outcome)\(entry.refusal.map { " not-stored=\(Self.quote($0))" } ?? "")\n"
    case .json:
      return """
        {"time":"\(Self.now())","client":"\(entry.client)","method":\(Self.quote(entry.method)),\
        "target":\(Self.quote(entry.target)),"status":\(entry.status),"bytes":\(entry.bytes),\
        "duration_ms":\(milliseconds),"outcome":"\(entry.outcome)"\
        \(entry.refusal.map { ",\"not_stored\":\(Self.quote($0))" } ?? "")}\n
        """
    }
  }

  private static func pad(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func quote(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where scalar.value < 0x20: quoted += " "
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func now() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var seconds = now.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let day = "\(parts.tm_year + 1900)-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
    let time = "\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))"
    return "\(day)T\(time).\(pad(now.tv_nsec / 1_000_000, 3))Z"
  }
}
