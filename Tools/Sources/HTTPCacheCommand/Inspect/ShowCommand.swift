import ArgumentParser
import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// `httpcache show`: all facts about the entries of a URL.
struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the stored responses of a URL: head, times, freshness, variants.",
    discussion: """
      The URL is one under which responses are stored, or one of the clients of a server that uses the \
      directory, or used it last.

      Exit status:
      \(ExitStatus.help([
        .success: "shown", .failure: "nothing is stored for the URL", .newerFormat: nil,
        .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Argument(help: "The URL.", transform: TargetURL.init(parsing:))
  var url: TargetURL

  @Flag(help: "Print JSON, one object per line and variant.")
  var json = false

  @OptionGroup var location: CacheLocation

  func run() async throws {
    let store = try location.openStore()
    let now = SystemClock().now
    let servers = DirectoryServers(location.path)
    let entries = try await StoreListing.entries(of: url, in: store, location, servers)
    for (index, entry) in entries.enumerated() {
      let rules = servers.rules(of: entry.record.key)
      guard !json else {
        try Console.printJSON(EntryJSON(entry, rules: rules, now: now, isDetailed: true))
        continue
      }
      if index > 0 { Console.print("") }
      if entries.count > 1 { Console.print("variant \(index + 1) of \(entries.count)") }
      Self.lines(entry, rules: rules, now: now).forEach(Console.print)
    }
  }

  private static func lines(_ entry: CacheEntry, rules: CacheRules?, now: Timestamp) -> [String] {
    let (record, response) = (entry.record, entry.record.response)
    let facts = response.facts
    var lines = ["\(response.requestMethod.rawValue) \(record.key.target)"]
    lines += response.head.text.split(separator: "\n").map { "  \($0)" }
    lines.append("cache       \(record.key.mode)" + named(record.key.partition, "partition"))
    lines.append("freshness   \(EntryFreshness(record, rules: rules, now: now).text)")
    let end = response.isExpired ? ", ended by a soft purge" : ""
    lines.append(
      "lifetime    \(HumanText.duration(facts.freshnessLifetime)) (\(text(facts.lifetimeSource)))\(end)")
    lines.append("received    \(time(response.responseTime, now)) (or last confirmed)")
    lines.append("last used   \(time(entry.lastUsed, now))")
    lines.append("size        \(HumanText.bytes(entry.size)), body \(bodyText(record))")
    let place = entry.record.isComplete ? "the index" : "no file of its own until it is complete"
    lines.append("body in     \(entry.bodyPath ?? place)")
    if !response.nominated.isEmpty {
      let fields = response.nominated.map { "\($0.name.rawName): \($0.value.text)" }
      lines.append("selected by \(fields.joined(separator: ", "))")
    }
    if !facts.directiveTexts.isEmpty {
      lines.append("directives  \(facts.directiveTexts.joined(separator: ", "))")
    }
    for window in ReuseWindow.allCases {
      guard let seconds = facts[window] else { continue }
      lines.append("stale       for up to \(HumanText.duration(seconds)) by \(window.rawValue)")
    }
    if !record.groups.isEmpty { lines.append("groups      \(record.groups.joined(separator: ", "))") }
    return lines
  }

  private static func named(_ name: String, _ what: String) -> String {
    name.isEmpty ? "" : ", \(what) \(name)"
  }

  private static func bodyText(_ record: CacheRecord) -> String {
    let length = record.bodyLength.map { HumanText.bytes($0) } ?? "of unknown length"
    guard let ranges = record.storedRanges else { return length }
    let stored = ranges.reduce(Int64(0)) { $0 + Int64($1.count) }
    return "\(length), \(HumanText.bytes(stored)) of it stored"
  }

  private static func text(_ source: ReuseFacts.LifetimeSource) -> String {
    switch source {
    case .none: "no field gives one"
    case .sMaxAge: "s-maxage, RFC 9111 §5.2.2.10"
    case .maxAge: "max-age, RFC 9111 §5.2.2.1"
    case .expires: "Expires, RFC 9111 §5.3"
    case .heuristic: "a share of the time since Last-Modified, RFC 9111 §4.2.2"
    case .targeted: "a targeted field, RFC 9213"
    case .override: "an override of the rules"
    }
  }

  private static func time(_ time: Timestamp, _ now: Timestamp) -> String {
    let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
    return
      "\(date.formatted(.iso8601)), \(HumanText.duration(now.duration(since: time).components.seconds)) ago"
  }
}
