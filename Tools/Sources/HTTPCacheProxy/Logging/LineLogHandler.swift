public import Logging

/// Writes messages as lines that begin with the label: `httpcache: GET /a: …`.
public struct LineLogHandler: LogHandler {
  private let label: String
  private let writer: LineWriter

  public var logLevel: Logger.Level
  public var metadata: Logger.Metadata = [:]
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

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) { writer.add("\(label): \(event.message)\n") }
}
