import ArgumentParser
import Foundation
import HTTPCaching

/// `httpcache get`: fetches through the cache.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Fetch URLs through the cache.",
    discussion: """
      The body of a single URL goes to standard output, unless -o or -O names a file; several URLs \
      without -O are fetched into the cache only. Standard error gets one line per URL with the \
      outcome. With --json these lines go to standard output, and a body only to a file.

      -o FILE and -O replace a file when the body is complete, and keep its mode and owner. A link is \
      followed; a device or FIFO is written to directly. An interrupted transfer continues when the \
      command is run again: from the cache, or, if the cache does not store the response or a redirect \
      names another URL, from the folder FILE.httpcache-part beside the file.

      With a queue option, the URLs become downloads in a list that survives the process: after Ctrl-C or a \
      crash, `httpcache downloads resume` continues them. Earlier downloads of the list wait. Without -o and -O \
      they go into the cache only; a single URL whose standard output is a file or a pipe then needs --queue.

      Exit status:
      \(ExitStatus.help)
      If the directory of the cache cannot be used, get says so and fetches without a cache.
      """)

  @Argument(
    help: ArgumentHelp(
      "http or https URLs. Without a scheme http is used, as in curl: example.com, localhost:8080/path.",
      valueName: "urls"))
  var addresses: [URLArgument] = []

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: "Write the body to this file; - is standard output.")
  var output: String?

  @Flag(
    name: .customLong("create-dirs"),
    help: "Make the missing folders of -o; those of an --input-file are always made.")
  var createsFolders = false

  @Flag(name: [.customShort("O"), .customLong("remote-name")], help: "Take the file's name from the URL.")
  var usesRemoteName = false

  @Flag(
    name: [.customShort("J"), .customLong("remote-header-name")],
    help: "With -O, take the file's name from Content-Disposition; never overwrites a file.")
  var usesHeaderName = false

  @Flag(
    name: [.customShort("R"), .customLong("remote-time")], inversion: .prefixedNo,
    help: "Give the file the time of the representation (Last-Modified).")
  var usesRemoteTime = true

  @Option(help: "How to use the cache.")
  var policy: PolicyArgument = .standard

  @OptionGroup(title: "Request Options") var requestOptions: RequestOptionGroup

  @OptionGroup(title: "Cookie Options") var cookieOptions: CookieOptionGroup

  @OptionGroup(title: "Content Options") var contentOptions: ContentOptionGroup

  @OptionGroup(title: "Connection Options") var connection: ConnectionOptionGroup

  @OptionGroup(title: "Retry Options") var retry: RetryOptionGroup

  @OptionGroup(title: "Queue Options") var queueOptions: QueueOptionGroup

  @OptionGroup(title: "Message Options") var messages: MessageOptionGroup

  @Flag(help: "Explain how the cache decides about each request, and about storing its response.")
  var explain = false

  @Flag(
    help:
      "Report as JSON, one object per line. For curl's --json DATA: -d DATA -H 'Content-Type: application/json'."
  )
  var json = false

  @Flag(name: [.short, .long], help: "Write status and fields before the body.")
  var include = false

  @Flag(
    name: [.short, .long], help: "Treat a status of 400 or more as a failure, and do not write its body.")
  var fail = false

  @Option(
    name: [.customShort("m", allowingJoined: true), .customLong("max-time")], parsing: .unconditional,
    help: "Maximum seconds for each URL; with --retry, for each try.",
    transform: SecondsArgument.number)
  var maxTime: Double?

  @Option(
    name: [.short, .long, .customLong("parallel")], parsing: .unconditional,
    help: "Number of URLs to fetch at once.")
  var jobs = 6

  @Option(
    name: [.long, .customLong("max-redirs")], parsing: .unconditional,
    help: """
      Maximum number of redirects, at most \(GetCommand.mostRedirects); -1 is the most. Other hosts get neither \
      Authorization nor Cookie.
      """)
  var redirects = 20

  @Flag(
    name: [.customShort("L"), .customLong("location")], help: "Has no effect: redirects are always followed.")
  var followsRedirects = false

  @OptionGroup var seeds: SeedOptionGroup

  @OptionGroup var location: CacheLocation

  @Option(
    help: """
      Maximum bytes of the directory, such as 500M or 10G; kept in the directory, as by config \
      --capacity. Default: the directory's, 1G for a new one.
      """, transform: ByteSize.parsed)
  var capacity: ByteSize?

  @Option(
    name: .customLong("largest-entry"),
    help:
      "The longest body to store: bytes such as 64M, or a share of the capacity such as 10%. (default: 50%)",
    transform: LargestEntryArgument.parsed)
  var largestEntry = LargestEntryArgument(.share(0.5))

  @Option(
    name: .customLong("min-free"),
    help: """
      Bytes to leave free on the file system; kept in the directory. 0 disables the check. Default: the \
      directory's, 128M for a new one.
      """, transform: ByteSize.parsed)
  var minimumFree: ByteSize?

  /// The largest limit of redirects.
  private static let mostRedirects = 100

  func validate() throws {
    if output != nil, usesRemoteName { throw ValidationError("-o and -O exclude each other") }
    if output?.isEmpty == true { throw ValidationError("-o requires the name of a file, or - (got nothing)") }
    if output != nil, addresses.count > 1 {
      throw ValidationError("-o takes the body of one URL (got \(addresses.count)); -O names a file for each")
    }
    try validateQueue()
    if usesHeaderName, !usesRemoteName { throw ValidationError("-J requires -O") }
    if json, output == "-" || cookieOptions.jarPath == "-" {
      throw ValidationError(
        "--json writes its report to standard output, as -o - and -c - do; name a file")
    }
    guard (1...256).contains(jobs) else {
      throw ValidationError("--jobs must be from 1 to 256 (got \(jobs))")
    }
    guard (-1...Self.mostRedirects).contains(redirects) else {
      throw ValidationError(
        "--redirects must be from 0 to \(Self.mostRedirects), or -1 for the most (got \(redirects))")
    }
    if let maxTime, !(maxTime > 0 && maxTime <= 1e6) {
      throw ValidationError("--max-time must be above 0 and at most 1000000 seconds (got \(maxTime))")
    }
  }

  func run() async throws {
    try await Interruption.cancelling {
      if queueOptions.isUsed { try await runQueue() } else { try await fetchAll() }
    }
  }

  private func fetchAll() async throws {
    try checkOutput()
    let (plan, urls, writeOut, clientOptions) = try ExitStatus.reportingUsage {
      let plan = try RequestPlan(requestOptions, content: contentOptions, cookieJar: cookieOptions.jarPath)
      let urls = try addresses.map { try plan.target(TargetURL(parsing: $0.text)) }
      let writeOut = try messages.writeOut.map { try WriteOut($0) }
      return (plan, urls, writeOut, try connection.clientOptions(maxTime: maxTime))
    }
    let destinations = destinations(of: urls)
    try checkDistinct(destinations)
    makeFolders(of: destinations)
    let writesToTerminal = writesToTerminal(destinations)
    let isShown = !messages.quiet && Terminal.isTerminal(STDERR_FILENO) && !writesToTerminal
    let meter = ProgressMeter(transfers: urls.count, isShown: isShown)
    let recorder = StorageRecorder { meter.say("httpcache: \($0)") }
    let cache = try openCache(recorder)
    if connection.insecure, !messages.quiet {
      Console.report("httpcache: --insecure: certificates are not checked, and the cache is not used")
    }
    let status: ExitStatus
    do {
      status = try await OriginClient.withUpstream(clientOptions) { base in
        let upstream = plan.cookieJar.map { CookieUpstream(base: base, jar: $0) as any Upstream } ?? base
        let fetcher = Fetcher(
          cache: cache, upstream: messages.upstream(upstream, proxies: clientOptions.proxies),
          recorder: recorder, meter: meter, policy: connection.usedPolicy(policy),
          options: RequestOptions(plan, redirectLimit: redirects < 0 ? Self.mostRedirects : redirects),
          includesHead: include || requestOptions.head, explains: explain, failsOnError: fail,
          handling: ResponseHandling(
            decodes: plan.decodes, usesHeaderName: usesHeaderName, usesRemoteTime: usesRemoteTime,
            tell: messages.tell),
          isQuiet: messages.quiet, protectsTerminal: output == nil && writesToTerminal,
          isInsecure: connection.insecure)
        let status = try await fetchAll(urls, plan, to: destinations, with: fetcher, writeOut: writeOut)
        // Finish the background validation of stale responses (RFC 5861 §3).
        await cache.finishBackgroundWork(within: .seconds(10))
        return cookieOptions.save(plan, after: status)
      }
    } catch {
      Console.report("httpcache: \(error)")
      throw ExitStatus.failure.code
    }
    await cache.flush()
    guard status == .success else { throw status.code }
  }

  /// Fetches all URLs, a bounded number at once. The exit status is that of the first failed URL.
  private func fetchAll(
    _ urls: [TargetURL], _ plan: RequestPlan, to destinations: [Output.Destination],
    with fetcher: Fetcher, writeOut: WriteOut?
  ) async throws -> ExitStatus {
    let isQuiet = messages.quiet
    let repeated = RepeatedFetch(
      fetcher: fetcher, rule: retry.rule, content: plan.content, limit: maxTime.map { .seconds($0) }
    ) { line in
      if !isQuiet { fetcher.meter.say(line) }
    }
    typealias Ended = (index: Int, report: TransferReport, retries: Int)
    return try await withThrowingTaskGroup(of: Ended.self) { group in
      var statuses = [ExitStatus](repeating: .success, count: urls.count)
      var begun = 0
      func begin() {
        guard begun < urls.count, !Task.isCancelled else { return }
        let (index, url, request) = (begun, urls[begun], plan.request(for: urls[begun]))
        begun += 1
        group.addTask {
          let (report, retries) = await repeated.fetch(request, url: url.text, to: destinations[index])
          return (index, report, retries)
        }
      }
      for _ in 0..<jobs { begin() }
      while let (index, report, retries) = try await group.next() {
        let status = report.exitStatus(failing: fail)
        statuses[index] = status
        let isLineShown = messages.shows(failure: status != .success) && !json
        fetcher.meter.end(printing: isLineShown ? report.line : nil)
        if !json, let text = report.explanations { Console.reportAll(text) }
        if json { try Console.printJSON(report.json) }
        writeOut?.write(
          WriteOut.Transfer(
            report: report, method: plan.method, exitStatus: status, retries: retries))
        begin()
      }
      if begun < urls.count {
        Console.report("httpcache: interrupted before \(HumanText.count(urls.count - begun, "more URL"))")
        statuses[begun] = .interrupted
      }
      return statuses.first { $0 != .success } ?? .success
    }
  }

  func openCache(_ recorder: StorageRecorder) throws -> HTTPCache {
    try location.openCache { configuration in
      configuration.diskCapacity = capacity?.bytes
      configuration.largestEntry = largestEntry.limit
      configuration.minimumFreeDiskSpace = minimumFree?.bytes
      configuration.seeds = try seeds.open()
      configuration.observer = recorder
      configuration.clock = CommandEnvironment.clock
    }
  }
}
