import Foundation
import HTTPCacheProxy

/// The figures of `httpcache top` as text.
struct TopScreen {
  private static let rows = 15
  private static let width = 60

  /// The most missed targets, asked for every five seconds.
  var missed: [AdminMissed] = []
  private var seconds = 0

  /// Whether the missed targets are to be asked for again.
  var isDue: Bool { seconds % 5 == 0 }

  /// One line about a second.
  static func line(_ sample: AdminLive) -> String {
    "\(clock(sample.time))  \(rate(sample))  hit ratio \(HumanText.share(sample.hits, of: sample.cacheable))  \(times(sample))  \(HumanText.count(sample.connections, "connection"))"
  }

  /// The screen, from its first column and line.
  mutating func text(_ sample: AdminLive, of address: String) -> String {
    seconds += 1
    var lines = ["httpcache serve at \(address)", Self.line(sample), ""]
    lines.append(
      "memory  \(Self.tier(bytes: sample.memoryBytes, capacity: sample.memoryCapacity, entries: sample.memoryEntries))"
    )
    lines.append(
      "disk    \(Self.tier(bytes: sample.diskBytes, capacity: sample.diskCapacity, entries: sample.diskEntries))"
    )
    if let fleet = sample.fleet { lines.append("fleet   \(fleet.line)") }
    let outcomes = sample.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    lines.append(
      "        " + outcomes.map { "\($0.key) \(HumanText.grouped($0.value))" }.joined(separator: "  "))
    lines.append("")
    var table = TextTable(
      ["not answered from the cache", "requests", "mean", "slowest", "latest", "why not stored"],
      [.leading, .trailing, .trailing, .trailing, .leading, .leading])
    for row in missed.prefix(Self.rows) {
      table.add([
        Self.shortened(row.place.printableInLine), HumanText.grouped(row.requests),
        HumanText.duration(.seconds(row.meanSeconds)), HumanText.duration(.seconds(row.slowestSeconds)),
        "\(row.outcome) \(row.status)", (row.reason ?? "").printableInLine,
      ])
    }
    // Home, each line cleared to its end, and what is below: without flicker.
    let screen = (lines + table.lines).map { $0 + "\u{1B}[K\n" }.joined()
    return "\u{1B}[H" + screen + "\u{1B}[J"
  }

  private static func rate(_ sample: AdminLive) -> String {
    let seconds = max(sample.seconds, 0.001)
    return
      "\(HumanText.grouped(Int64((Double(sample.requests) / seconds).rounded()))) requests/s  \(HumanText.bytes(Int64(Double(sample.bytes) / seconds)))/s"
  }

  private static func times(_ sample: AdminLive) -> String {
    guard let half = sample.p50, let most = sample.p99 else { return "no request" }
    return
      "half within \(HumanText.duration(.seconds(half))), 99 % within \(HumanText.duration(.seconds(most)))"
  }

  private static func tier(bytes: Int64, capacity: Int64, entries: Int) -> String {
    guard capacity > 0 else { return "not used" }
    return
      "\(HumanText.bytes(bytes)) of \(HumanText.bytes(capacity)), \(HumanText.grouped(Int64(entries))) responses"
  }

  private static func clock(_ time: Double) -> String {
    let second = ((Int(time.rounded(.down)) % 86_400) + 86_400) % 86_400
    return String(format: "%02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60)
  }

  private static func shortened(_ target: String) -> String {
    target.count <= width ? target : target.prefix(width / 2 - 1) + "…" + target.suffix(width / 2)
  }
}
