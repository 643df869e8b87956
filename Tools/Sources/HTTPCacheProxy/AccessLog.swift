import NIOCore
import NIOPosix
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes a line for each request, from a thread of its own, so that a slow reader of the log holds
/// no connection up.
public final class AccessLog: Sendable {
  /// How a line looks.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// No lines.
    case none
    /// Fields with spaces between them.
    case plain
    /// A JSON object.
    case json
  }

  /// What is known of a request in the end.
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

  private struct State {
    var lines: [UInt8] = []
    var isWriting = false
    var dropped = 0
  }

  private static let limit = 4 << 20

  private let format: Format
  private let descriptor: Int32
  private let pool: NIOThreadPool?
  private let state = Mutex(State())

  /// Makes a log.
  ///
  /// - Parameter descriptor: where lines are written, by default standard output; not closed.
  public init(_ format: Format, descriptor: Int32 = 1) {
    self.format = format
    self.descriptor = descriptor
    pool = format == .none ? nil : NIOThreadPool(numberOfThreads: 1)
    pool?.start()
  }

  deinit { pool?.shutdownGracefully { _ in } }

  /// Whether lines are written.
  var isOn: Bool { format != .none }

  /// Adds a line.
  func add(_ entry: Entry) {
    guard let pool else { return }
    let line = Array(render(entry).utf8)
    let starts = state.withLock { state in
      guard state.lines.count < Self.limit else {
        state.dropped += 1
        return false
      }
      state.lines += line
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { pool.submit { _ in self.writeAll() } }
  }

  /// Waits until everything is written.
  func flush() async {
    guard let pool else { return }
    await withCheckedContinuation { continuation in
      pool.submit { _ in
        self.writeAll()
        continuation.resume()
      }
    }
  }

  private func writeAll() {
    while true {
      let lines = state.withLock { state -> [UInt8] in
        var lines = state.lines
        if state.dropped > 0 { lines += Array("httpcache: \(state.dropped) log lines dropped\n".utf8) }
        state.dropped = 0
        state.lines = []
        state.isWriting = !lines.isEmpty
        return lines
      }
      if lines.isEmpty { return }
      var written = 0
      while written < lines.count {
        let count = lines.withUnsafeBytes { bytes in
          write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        }
        if count < 0, errno != EINTR { break }
        written += max(0, count)
      }
    }
  }

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
