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
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(rules: CacheRules(mode: location.mode)), store: store)
    var count = 0
    var isCounted = true
    do {
      for selection in selections(now: SystemClock().now) {
        if soft {
          if let marked = try await cache.invalidate(selection) { count += marked } else { isCounted = false }
        } else if let partition {
          for mode in location.listedMode.map({ [$0] }) ?? CacheMode.allCases {
            let cache = HTTPCache(
              configuration: HTTPCache.Configuration(rules: CacheRules(mode: mode)), store: store)
            count += try await cache.wipe(partition: partition)
          }
        } else {
          count += try await cache.remove(selection)
        }
      }
    } catch {
      throw ExitStatus.reporting(error)
    }
    await cache.flush()
    let what = isCounted ? HumanText.count(count, "response") : "what matches"
    Console.print(soft ? "marked \(what) as invalid" : "removed \(what)")
  }

  private func selections(now: Timestamp) -> [CacheSelection] {
    if all { return [.all] }
    if let prefix { return [.prefix(TargetURL.normalizedPrefix(prefix))] }
    if let olderThan { return [.storedBefore(now.adding(-olderThan.seconds))] }
    if let group, let origin { return [.group(origin: origin.normalized, name: group)] }
    if let partition { return [.partition(mode: location.mode, partition)] }
    return urls.map { .target($0.normalized) }
  }
}
