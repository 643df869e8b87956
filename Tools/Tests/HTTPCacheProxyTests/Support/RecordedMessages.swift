import Logging
import Synchronization

/// Keeps the messages of a logger.
final class RecordedMessages: Sendable {
  private struct Handler: LogHandler {
    let messages: RecordedMessages
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.kept.withLock { $0.append("\(event.message)") } }
  }

  private let kept = Mutex<[String]>([])

  /// The messages so far.
  var all: [String] { kept.withLock { $0 } }

  /// A logger whose messages are kept.
  var logger: Logger { Logger(label: "test") { _ in Handler(messages: self) } }
}
