import ArgumentParser
import HTTPCaching

/// `httpcache explain`: how the cache would decide now.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Say how the cache decides about a request now, and why.",
    discussion: "Nothing is sent and nothing is changed.")

  @Argument(help: "The URL.", transform: TargetURL.init(parsing:))
  var url: TargetURL

  @Option(
    name: [.customShort("H"), .customLong("header")], help: "A request field, 'Name: value'.",
    transform: HeaderArgument.init(parsing:))
  var headers: [HeaderArgument] = []

  @Option(help: "How the request uses the cache.")
  var policy: PolicyArgument = .standard

  @Option(help: "The partition.")
  var partition = ""

  @OptionGroup var location: CacheLocation

  func run() async throws {
    let store = try location.openStore()
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        directory: location.path, memoryCapacity: 0, rules: CacheRules(mode: location.mode)),
      store: store)
    do {
      let explanation = try cache.explain(
        url.request(.get, HTTPFields(headers)), policy: policy.policy,
        options: RequestOptions(partition: partition))
      Console.print("\(explanation)")
    } catch {
      throw ExitStatus.reporting(error)
    }
  }
}
