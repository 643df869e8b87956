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

  /// Adds a line. The writer's thread makes its text, so that the event loop does not wait for that.
  func add(_ entry: Entry) {
    let format = format
    let time = Self.now()
    writer?.add(size: entry.size) { Self.render(entry, at: time, format) }
  }

  /// Waits until every line is written, or the reader of the log stops reading.
  func flush() async { await writer?.flush() }

  private static func render(_ entry: Entry, at time: timespec, _ format: Format) -> String {
    let milliseconds = "\(entry.microseconds / 1000).\(Self.pad(entry.microseconds % 1000, 3))"
    switch format {
    case .none: return ""
    case .plain:
      return
        "\(Self.text(time)) \(entry.client) \(entry.method) \(entry.target) \(entry.status) \(entry.bytes) \(milliseconds)ms \(entry.outcome)\(entry.refusal.map { " not-stored=\(Self.quote($0))" } ?? "")\n"
    case .json:
      return """
        {"time":"\(Self.text(time))","client":"\(entry.client)","method":\(Self.quote(entry.method)),\
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

  private static func now() -> timespec {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now
  }

  private static func text(_ time: timespec) -> String {
    var seconds = time.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let day = "\(parts.tm_year + 1900)-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
    let clock = "\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))"
    return "\(day)T\(clock).\(pad(time.tv_nsec / 1_000_000, 3))Z"
  }
}

extension AccessLog.Entry {
  /// About how many bytes the line takes.
  fileprivate var size: Int { 128 + client.utf8.count + target.utf8.count + (refusal?.utf8.count ?? 0) }
}
