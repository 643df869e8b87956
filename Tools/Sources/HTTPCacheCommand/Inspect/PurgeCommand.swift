import ArgumentParser
import HTTPCaching

/// `httpcache purge`: removes responses, or marks them.
struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Remove responses, or mark them to be validated first.",
    discussion: "A server that runs on the same directory notices at once.")

  @Argument(help: "URLs.", transform: TargetURL.init(parsing:))
  var urls: [TargetURL] = []

  @Option(help: "URLs that begin with this.")
  var prefix: String?

  @Option(
    name: .customLong("older-than"),
    help: "What was stored or freshened before that: days, or an age such as 12h.")
  var olderThan: AgeArgument?

  @Option(help: "A group of --origin (RFC 9875).")
  var group: String?

  @Option(help: "The origin of --group, such as https://example.com.", transform: TargetURL.init(parsing:))
  var origin: TargetURL?

  @Option(help: "A partition, such as the account of a user; no file has any byte of it afterwards.")
  var partition: String?

  @Flag(help: "Everything.")
  var all = false

  @Flag(help: "Keep the responses, but validate them before any use (RFC 9111 §4.4).")
  var soft = false

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if (group == nil) != (origin == nil) { throw ValidationError("--group and --origin go together") }
    let kinds = [
      !urls.isEmpty, prefix != nil, olderThan != nil, group != nil, partition != nil, all,
    ]
    guard kinds.filter({ $0 }).count == 1 else {
      throw ValidationError(
        "say what to purge with one of: URLs, --prefix, --older-than, --group, --partition, --all")
    }
    if prefix?.isEmpty == true { throw ValidationError("an empty --prefix is everything: use --all") }
  }

  func run() async throws {
    let store = try location.openStore()
    var count = 0
    var isCounted = true
    do {
      for selection in try await selections(in: store, now: SystemClock().now) {
        if soft {
          if let marked = try await store.invalidate(selection) { count += marked } else { isCounted = false }
        } else if let partition {
          for mode in location.listedMode.map({ [$0] }) ?? CacheMode.allCases {
            count += try await store.wipe(mode: mode, partition: partition)
          }
        } else {
          count += try await store.remove(selection)
        }
      }
    } catch {
      throw ExitStatus.reporting(error)
    }
    await store.flush()
    let what = isCounted ? HumanText.count(count, "response") : "what matches"
    Console.print(soft ? "marked \(what) as invalid" : "removed \(what)")
  }

  private func selections(
    in store: any CacheStore, now: Timestamp
  ) async throws(CacheError) -> [CacheSelection] {
    if all { return [.all] }
    if let prefix { return [.prefix(TargetURL.normalizedPrefix(prefix))] }
    if let olderThan { return [.storedBefore(now.adding(-olderThan.seconds))] }
    if let group, let origin = origin.flatMap({ TargetURI.origin(of: $0.normalized) }) {
      return [.group(origin: origin, name: group)]
    }
    if let partition { return [.partition(mode: location.mode, partition)] }
    var targets = urls.map(\.normalized)
    for target in targets { targets += try await store.targets(equivalentTo: target) }
    return targets.map { .target($0) }
  }
}
