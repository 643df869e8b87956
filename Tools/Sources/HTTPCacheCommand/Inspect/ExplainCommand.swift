import ArgumentParser
import HTTPCaching

/// `httpcache explain`: how the cache would decide now.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say how the cache decides about a request now, and why.",
    discussion: """
      Every question that is asked, with what was compared, what followed, and the section that says \
      so. Where nothing usable is stored, why responses were not stored. Nothing is sent and nothing \
      is changed.
      """)

  @Argument(help: "The URL.", transform: TargetURL.init(parsing:))
  var url: TargetURL

  @Option(
    name: [.customShort("H"), .customLong("header"), .customLong("request-header")],
    help: "A request field, 'Name: value'.", transform: HeaderArgument.init(parsing:))
  var headers: [HeaderArgument] = []

  @Option(name: [.customShort("X"), .customLong("method")], help: "The method.")
  var method = "GET"

  @Option(help: "How the request uses the cache.")
  var policy: PolicyArgument = .standard

  @Option(help: "The partition.")
  var partition = ""

  @Flag(help: "As URLSession asks, which takes bodies that were stored decoded, and no coded ones.")
  var decoded = false

  @Flag(help: "As JSON, one object.")
  var json = false

  @OptionGroup var location: CacheLocation

  func validate() throws {
    guard HTTPRequest.Method(rawValue: method) != nil else {
      throw ValidationError("'\(method)' is not a method")
    }
  }

  func run() async throws {
    let store = try location.openStore()
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        directory: location.path, memoryCapacity: 0, rules: CacheRules(mode: location.mode)),
      store: store)
    let explanation: CacheExplanation
    do {
      explanation = try cache.explain(
        url.request(HTTPRequest.Method(rawValue: method) ?? .get, HTTPFields(headers)),
        policy: policy.policy,
        options: RequestOptions(
          partition: partition, acceptsDecoded: decoded, acceptsEncoded: !decoded))
    } catch {
      throw ExitStatus.reporting(error)
    }
    if json {
      try Console.printJSON(ExplanationJSON(explanation))
    } else {
      Console.print("\(explanation)")
    }
  }
}
