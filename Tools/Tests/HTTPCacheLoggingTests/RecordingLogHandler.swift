import Logging
import Synchronization

/// Keeps what is logged.
struct RecordingLogHandler: LogHandler {
  /// An entry.
  struct Entry: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
  }

  /// Where the entries are.
  final class Record: Sendable {
    private let kept = Mutex<[Entry]>([])
    var entries: [Entry] { kept.withLock { $0 } }
    fileprivate func add(_ entry: Entry) { kept.withLock { $0.append(entry) } }
  }

  let record: Record
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    record.add(
      Entry(
        level: event.level, message: "\(event.message)",
        metadata: (event.metadata ?? [:]).mapValues { "\($0)" }))
  }
}
