import Foundation

/// Times as HAR and WARC have them.
enum RecordedTime {
  private static let styles = [
    Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
  ]

  /// When the request was sent and the head of the response arrived, in seconds since 1970; nil if the entry does not
  /// tell.
  static func of(_ entry: HAREntry) -> (requested: Int64, received: Int64)? {
    guard let start = entry.startedDateTime.flatMap(time) else { return nil }
    let parts = [
      entry.timings?.blocked, entry.timings?.dns, entry.timings?.connect, entry.timings?.send,
      entry.timings?.wait,
    ]
    // Browsers write -1 for a phase that did not happen.
    let known = parts.compactMap { $0 }.filter { $0 >= 0 && $0 <= 86_400_000 }
    return (Int64(start.rounded(.down)), Int64((start + known.reduce(0, +) / 1_000).rounded(.down)))
  }

  private static func time(_ text: String) -> Double? {
    guard text.utf8.count <= 64, let date = styles.lazy.compactMap({ try? $0.parse(text) }).first,
      abs(date.timeIntervalSince1970) < 1e12
    else { return nil }
    return date.timeIntervalSince1970
  }

  /// Seconds since 1970; nil if the text is not a time.
  static func seconds(_ text: String) -> Int64? { time(text).map { Int64($0.rounded(.down)) } }

  /// The text of a time, with or without a fraction of a second.
  static func text(_ seconds: Int64, hasFraction: Bool) -> String {
    styles[hasFraction ? 0 : 1].format(Date(timeIntervalSince1970: Double(seconds)))
  }
}
