/// Metrics in Prometheus' text format, version 0.0.4.
public struct PrometheusText: Sendable {
  /// The kinds of metrics.
  public enum Kind: String, Sendable {
    /// A number that only rises.
    case counter
    /// A number that rises and falls.
    case gauge
    /// A distribution in buckets.
    case histogram
  }

  /// The type of the text in HTTP.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text so far.
  public private(set) var text = ""

  /// Makes an empty text.
  public init() {}

  /// Begins a metric; its samples follow.
  ///
  /// - Parameters:
  ///   - name: with the unit, and `_total` for a counter.
  ///   - help: one sentence without line feeds and backslashes.
  public mutating func begin(_ name: String, _ kind: Kind, help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Adds a sample.
  ///
  /// - Parameter labels: names with values; values may have any characters.
  public mutating func add(_ name: String, labels: [(name: String, value: String)], value: String) {
    text += name
    if !labels.isEmpty {
      let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
      text += "{\(pairs.joined(separator: ","))}"
    }
    text += " \(value)\n"
  }

  /// Adds a metric that has one sample.
  public mutating func add(_ name: String, _ kind: Kind, help: String, value: Int64) {
    begin(name, kind, help: help)
    add(name, labels: [], value: "\(value)")
  }

  /// Microseconds as seconds.
  static func seconds(_ microseconds: Int64) -> String {
    "\(microseconds / 1_000_000).\(AccessLog.pad(microseconds % 1_000_000, 6))"
  }

  private static func escaped(_ value: String) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
