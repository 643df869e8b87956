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

  @Argument(help: "The URL; without a scheme it is http.")
  var address: URLArgument

  @OptionGroup(title: "Request Options") var requestOptions: RequestOptionGroup

  @Option(help: "How the request uses the cache.")
  var policy: PolicyArgument = .standard

  @Option(help: "The partition.")
  var partition = ""

  @Flag(help: "As URLSession asks, which takes bodies that were stored decoded, and no coded ones.")
  var decoded = false

  @Flag(help: "As JSON, one object.")
  var json = false

  @OptionGroup var location: CacheLocation

  func run() async throws {
    let (plan, planned) = try ExitStatus.reportingUsage {
      let plan = try RequestPlan(requestOptions)
      return (plan, plan.request(for: try plan.target(TargetURL(parsing: address.text))))
    }
    var request = planned
    var options = RequestOptions(plan, redirectLimit: 0)
    options.partition = partition
    if decoded {
      // URLSession says by itself what codings it takes.
      request.headerFields[.acceptEncoding] = nil
      (options.acceptsDecoded, options.acceptsEncoded) = (true, false)
    }
    let store = try location.openStore()
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        directory: location.path, memoryCapacity: 0, rules: CacheRules(mode: location.mode)),
      store: store)
    let explanation: CacheExplanation
    do {
      explanation = try cache.explain(request, policy: policy.policy, options: options)
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
