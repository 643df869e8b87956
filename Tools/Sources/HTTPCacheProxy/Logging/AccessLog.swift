import HTTPCacheLibC
import HTTPTypes

/// Writes a line for each request.
public final class AccessLog: Sendable {
  /// The format of a line.
  public enum Format: Sendable, Hashable {
    /// No lines.
    case none
    /// Fields with spaces between them.
    case plain
    /// A JSON object.
    case json
    /// Lines as other servers write them.
    case template(LogTemplate)
  }

  /// A file that cannot be opened.
  public struct OpenFailure: Error, CustomStringConvertible {
    /// The file, and the system's reason.
    public let description: String
  }

  /// The facts about a finished request.
  package struct Entry: Sendable {
    /// The client's address; `-` if unknown.
    package var client: String
    package var method: String
    /// The target as the client sent it.
    package var target: String
    package var status: Int
    /// The bytes of the body that were sent.
    package var bytes: Int64
    /// The time from the head of the request to the end of the response.
    package var microseconds: Int64
    /// One word (`RequestOutcome`).
    package var outcome: String
    /// Why the response was not stored.
    package var refusal: String?
    /// Why a request was refused.
    package var reason: String?
    /// The host that the client asked for, with its port if it names one; empty if it is unknown.
    package var host = ""
    /// The version of the request, such as `HTTP/1.1`.
    var version = "HTTP/1.1"
    /// The values of the fields that the format names.
    var fields: [String?] = []
  }

  private let format: Format
  private let writer: LineWriter?
  private let path: String?

  /// Makes a log.
  ///
  /// - Parameter descriptor: where lines are written, by default standard output; not closed.
  public init(_ format: Format, descriptor: Int32 = 1) {
    self.format = format
    path = nil
    writer = format == .none ? nil : LineWriter(descriptor: descriptor)
  }

  /// Makes a log in a file, which is made if it is not there.
  ///
  /// - Throws: `OpenFailure` if the file cannot be opened for writing.
  public init(_ format: Format, path: String) throws(OpenFailure) {
    self.format = format
    self.path = path
    writer = format == .none ? nil : LineWriter(descriptor: try Self.open(path))
  }

  /// Opens the file of the log again, after another program has renamed it. Without a file, does nothing.
  ///
  /// - Throws: `OpenFailure` if the file cannot be opened; lines go where they went before.
  public func reopen() throws(OpenFailure) {
    guard let path, let writer else { return }
    writer.replace(descriptor: try Self.open(path))
  }

  /// The fields of requests that an entry needs.
  var fieldNames: [HTTPField.Name] {
    if case .template(let template) = format { template.fieldNames } else { [] }
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

  /// Checks that a log can be opened or made at a path, without making it.
  ///
  /// - Throws: `OpenFailure`.
  public static func check(path: String) throws(OpenFailure) {
    var status = stat()
    // Do not open a log that exists: the reader of a pipe would read its end.
    if stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { errno = EISDIR } else if access(path, W_OK) == 0 { return }
      throw failure(path)
    }
    guard errno == ENOENT else { throw failure(path) }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    if folder == path { errno = EISDIR } else if access(String(folder), W_OK | X_OK) == 0 { return }
    throw failure(path)
  }

  private static let openFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY

  private static func open(_ path: String) throws(OpenFailure) -> Int32 {
    // Opening a pipe without a reader fails instead of waiting; writing waits for the reader, on the writer's thread.
    let descriptor = HTTPCacheLibC.open(path, openFlags | O_CREAT | O_NONBLOCK, 0o640)
    guard descriptor >= 0 else { throw failure(path) }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    return descriptor
  }

  private static func failure(_ path: String) -> OpenFailure {
    // A missing file is made.
    let reason =
      switch errno {
      case ENOENT: "its folder does not exist"
      case ENXIO: "it is a pipe that nothing reads, or a socket"
      default: SystemMessage.text(errno)
      }
    return OpenFailure(description: "cannot open \(path): \(reason)")
  }

  /// - Parameter time: since the beginning of 1970.
  static func render(_ entry: Entry, at time: Duration, _ format: Format) -> String {
    let milliseconds = "\(entry.microseconds / 1000).\(Self.pad(entry.microseconds % 1000, 3))"
    switch format {
    case .none: return ""
    case .plain:
      return
        "\(LogTime(time).internet) \(entry.client) \(LogText.line(entry.method)) \(LogText.line(entry.target)) \(entry.status) \(entry.bytes) \(milliseconds)ms \(entry.outcome)\(rest(of: entry))\n"
    case .json:
      return """
        {"time":"\(LogTime(time).internet)","client":"\(entry.client)","method":\(LogText.quoted(entry.method)),\
        "target":\(LogText.quoted(entry.target)),"status":\(entry.status),"bytes":\(entry.bytes),\
        "duration_ms":\(milliseconds),"outcome":"\(entry.outcome)"\
        \(entry.host.isEmpty ? "" : ",\"host\":\(LogText.quoted(entry.host))")\
        \(entry.reason.map { ",\"reason\":\(LogText.quoted($0))" } ?? "")\
        \(entry.refusal.map { ",\"not_stored\":\(LogText.quoted($0))" } ?? "")}\n
        """
    case .template(let template): return template.line(entry, at: time)
    }
  }

  /// The named facts at the end of a plain line.
  private static func rest(of entry: Entry) -> String {
    (entry.host.isEmpty ? "" : " host=\(LogText.line(entry.host))")
      + (entry.reason.map { " reason=\(LogText.quoted($0))" } ?? "")
      + (entry.refusal.map { " not-stored=\(LogText.quoted($0))" } ?? "")
  }

  static func pad(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    let missing = width - digits.utf8.count
    return missing > 0 ? String(repeating: "0", count: missing) + digits : digits
  }

  private static func now() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
  }
}

extension AccessLog.Entry {
  /// About how many bytes the line takes.
  fileprivate var size: Int {
    let texts = client.utf8.count + target.utf8.count + host.utf8.count
    return fields.reduce(128 + texts + (refusal?.utf8.count ?? 0) + (reason?.utf8.count ?? 0)) {
      $0 + ($1?.utf8.count ?? 0)
    }
  }
}
