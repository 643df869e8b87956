public import Logging

/// Writes messages as lines that begin with the label: `httpcache: GET example.com /a: …`.
public struct LineLogHandler: LogHandler {
  private let label: String
  private let writer: LineWriter

  /// The least level that is written.
  public var logLevel: Logger.Level
  /// Stored, but not written.
  public var metadata: Logger.Metadata = [:]
  /// Stored, but not used.
  public var metadataProvider: Logger.MetadataProvider?

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - label: how lines begin.
  ///   - level: the least level that is written.
  public init(label: String, writer: LineWriter, level: Logger.Level) {
    self.label = label
    self.writer = writer
    logLevel = level
  }

  /// One value of `metadata`.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes the message of an event.
  public func log(event: LogEvent) { writer.add("\(label): \(LogText.line("\(event.message)"))\n") }
}
