import ArgumentParser
import HTTPCacheProxy
import HTTPCaching

/// `httpcache explain`: how the cache would decide now.
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain how the cache decides about a request now.",
    discussion: """
      Prints each question that the cache asks, what it compares, the answer, and the section of the RFC. \
      If no usable response is stored, prints why earlier responses were not stored. Sends no request and \
      changes nothing. With --dir and neither --private nor --shared, explains the kind of cache (private \
      or shared) that has stored responses in the directory. Uses the rules and overrides of the servers that \
      use the directory, or of the one that used it last. A URL of clients is explained as the request that the \
      server makes of it. If no route of the server serves the URL, the client gets 404.

      Exit status:
      \(ExitStatus.help([
        .success: "explained, whatever the decision", .newerFormat: nil, .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Argument(help: "The URL; without a scheme it is http.")
  var address: URLArgument

  @OptionGroup(title: "Request Options") var requestOptions: RequestOptionGroup

  @Option(help: "How the request uses the cache.")
  var policy: PolicyArgument = .standard

  @Option(
    help: "The partition of the request, such as an account. (default: that of the server's client, or none)")
  var partition: String?

  @Flag(help: "Explain for URLSession, which uses bodies that were stored decoded, and no others.")
  var decoded = false

  @Flag(help: "Print JSON, one object.")
  var json = false

  @OptionGroup var seeds: SeedOptionGroup

  @OptionGroup var location: CacheLocation

  func run() async throws {
    var (plan, url) = try ExitStatus.reportingUsage {
      let plan = try RequestPlan(requestOptions)
      return (plan, try plan.target(TargetURL(parsing: address.text)))
    }
    let store = try location.openStore()
    if let given = url.asGiven, await !CacheLocation.modes(of: .target(given.normalized), in: store).isEmpty {
      url = given
    }
    var request = plan.request(for: url)
    var options = RequestOptions(plan, redirectLimit: 0)
    options.partition = partition ?? ""
    if decoded {
      // URLSession sets Accept-Encoding itself.
      request.headerFields[.acceptEncoding] = nil
      options.bodyForms = .decoded
    }
    let servers = DirectoryServers(location.path)
    let mode = await usedMode(of: url, servers, store)
    // A response that is stored under the URL is explained as it is.
    let isStored = await !CacheLocation.modes(of: .target(url.normalized), in: store).isEmpty
    let gateways = isStored ? DirectoryServers([]) : servers.with(mode)
    let server = try ExitStatus.reportingUsage { try gateways.server(of: url) }
    let place = server?.place(of: url)
    if let place {
      request.scheme = place.request.scheme
      request.authority = place.request.authority
      request.path = place.request.path
      options.partition = partition ?? place.partition
      Console.report(
        "httpcache: explained as \(place.target) [\(options.partition)], where the server stores it")
    }
    if gateways.hasNoRoute(for: url) {
      try show(.noRoute(for: url), ExplanationJSON.noRoute(for: url))
    } else {
      let rules = server?.rules ?? servers.rules(of: CacheKey(mode: mode, target: url.normalized))
      let explained = try explanation(of: request, options, rules ?? CacheRules(mode: mode), store)
      try show(explained, ExplanationJSON(explained))
    }
    guard place == nil else { return }
    let selection = CacheSelection.target(url.normalized)
    if await !CacheLocation.modes(of: selection, in: store).contains(mode),
      let hint = await location.hint(for: selection, in: store)
    {
      Console.report("httpcache: nothing is stored for \(url.normalized) in \(location.path); \(hint)")
    } else if let other = await otherPartition(of: selection, mode, store) {
      Console.report("httpcache: \(url.normalized) is stored in another partition (--partition \(other))")
    }
  }

  private func explanation(
    of request: HTTPRequest, _ options: RequestOptions, _ rules: CacheRules, _ store: any CacheStore
  ) throws -> CacheExplanation {
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        directory: location.path, memoryCapacity: 0, rules: rules, seeds: try seeds.open()),
      store: store)
    do {
      return try cache.explain(request, policy: policy.policy, options: options)
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private func show(_ explanation: CacheExplanation, _ object: ExplanationJSON) throws {
    if json { try Console.printJSON(object) } else { Console.print("\(explanation)") }
  }

  /// A partition that has the entry, unless the one of the request has it.
  private func otherPartition(
    of selection: CacheSelection, _ mode: CacheMode, _ store: any CacheStore
  ) async -> String? {
    let keys = (try? await store.entries(selection, after: nil, limit: 100))?.entries.map(\.record.key)
    let partitions = keys?.filter { $0.mode == mode }.map(\.partition) ?? []
    return partitions.contains(partition ?? "") ? nil : partitions.first
  }

  /// Private or shared: from the option, else from the entries of the directory of `--dir`, or its servers.
  private func usedMode(
    of url: TargetURL, _ servers: DirectoryServers, _ store: any CacheStore
  ) async -> CacheMode {
    guard location.directory != nil, location.modeFlag == nil else { return location.mode }
    var modes = await CacheLocation.modes(of: .target(url.normalized), in: store)
    if modes.isEmpty, let page = try? await store.entries(.all, after: nil, limit: 500) {
      modes = Set(page.entries.map(\.record.key.mode)).sorted { $0.rawValue < $1.rawValue }
    }
    if modes.isEmpty { modes = CacheMode.allCases.filter { !servers.with($0).known.isEmpty } }
    guard modes == [.shared] else { return .private }
    Console.report(
      "httpcache: explained as a shared cache, which has stored here; --private: as a private one")
    return .shared
  }
}
