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
      without -O are fetched into the cache only. One line per URL on standard error says what \
      happened. With --json these lines go to standard output, and a body only to a file.

      -o FILE and -O replace a file when the body is complete, and keep its mode and owner; a link is \
      followed, and a device or FIFO is written into. A transfer that is interrupted is continued when \
      the command is run again: from the cache, or, where the cache does not store the response, from \
      the folder FILE.httpcache-part beside the file.

      Exit status:
      \(ExitStatus.help)
      """)

  @Argument(help: "Absolute http or https URLs.", transform: TargetURL.init(parsing:))
  var urls: [TargetURL]

  @Option(name: [.short, .customLong("output")], help: "Write the body to this file; - is standard output.")
  var output: String?

  @Flag(name: [.customShort("O"), .customLong("remote-name")], help: "Name the file as the URL does.")
  var usesRemoteName = false

  @Option(help: "How to use the cache.")
  var policy: PolicyArgument = .standard

  @Option(
    name: [.customShort("H"), .customLong("header")], help: "A request field, 'Name: value'.",
    transform: HeaderArgument.init(parsing:))
  var headers: [HeaderArgument] = []

  @Option(name: [.customShort("X"), .customLong("request")], help: "The method.")
  var method: String?

  @Option(name: [.short, .long], help: "The request's content: text, or @FILE.")
  var data: String?

  @Flag(help: "Say how the cache decides about each request, and about storing its response.")
  var explain = false

  @Flag(help: "Report as JSON, one object per line.")
  var json = false

  @Flag(name: [.short, .long], help: "Write status and fields before the body.")
  var include = false

  @Flag(name: [.short, .long], help: "No report and no progress.")
  var quiet = false

  @Flag(name: [.short, .long], help: "A status of 400 or more is a failure; its body is left out.")
  var fail = false

  @Option(name: [.short, .customLong("max-time")], help: "The most seconds for each URL.")
  var maxTime: Double?

  @Option(name: .customLong("connect-timeout"), help: "The most seconds to open a connection.")
  var connectTimeout: Double = 10

  @Option(name: [.short, .long], help: "How many URLs to fetch at once.")
  var jobs = 6

  @Option(help: "How many redirects to follow.")
  var redirects = 20

  @Option(help: "A PEM file of certificates to trust in place of the system's.")
  var cacert: String?

  @Flag(name: .customLong("http1.1"), help: "Do not use HTTP/2.")
  var http1Only = false

  @OptionGroup var location: CacheLocation

  @Option(help: "How many bytes the cache may take, such as 500M or 10G.")
  var capacity = ByteSize(bytes: 1 << 30)

  @Option(
    name: .customLong("largest-entry"),
    help: "The longest body to store: bytes such as 64M, or a share of the capacity such as 10%.")
  var largestEntry = LargestEntryArgument(.share(0.5))

  @Option(name: .customLong("min-free"), help: "Bytes to leave free on the disk; 0 takes no care of it.")
  var minimumFree = ByteSize(bytes: DiskStore.defaultMinimumFreeSpace)

  func validate() throws {
    if output != nil, usesRemoteName { throw ValidationError("-o and -O exclude each other") }
    if output != nil, urls.count > 1 {
      throw ValidationError("-o takes the body of one URL (got \(urls.count)); -O names a file for each")
    }
    if json, output == "-" {
      throw ValidationError(
        "--json writes its report to standard output, and so would -o - the body; name a file with -o FILE")
    }
    guard (1...256).contains(jobs) else {
      throw ValidationError("--jobs must be from 1 to 256 (got \(jobs))")
    }
    guard (0...100).contains(redirects) else {
      throw ValidationError("--redirects must be from 0 to 100 (got \(redirects))")
    }
    for (option, seconds) in [("--max-time", maxTime ?? 1), ("--connect-timeout", connectTimeout)] {
      guard seconds > 0, seconds <= 1e6 else {
        throw ValidationError("\(option) must be above 0 and at most 1000000 seconds (got \(seconds))")
      }
    }
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert: cannot read \(cacert)")
    }
    if let method, HTTPRequest.Method(rawValue: method) == nil {
      throw ValidationError("-X: '\(method)' is not a method, such as GET or POST")
    }
  }

  func run() async throws {
    try await Interruption.cancelling { try await fetchAll() }
  }

  private func fetchAll() async throws {
    try checkOutput()
    let content = try content()
    let isShown = !quiet && Terminal.isTerminal(STDERR_FILENO) && !writesToTerminal
    let meter = ProgressMeter(transfers: urls.count, isShown: isShown)
    let recorder = StorageRecorder { meter.say("httpcache: \($0)") }
    let cache = try openCache(recorder)
    var options = OriginClient.Options()
    options.connectTimeout = .seconds(connectTimeout)
    options.isHTTP1Only = http1Only
    options.trustRoots = cacert
    let status: ExitStatus
    do {
      status = try await OriginClient.withUpstream(options) { upstream in
        let fetcher = Fetcher(
          cache: cache, upstream: upstream, recorder: recorder, meter: meter, policy: usedPolicy,
          options: RequestOptions(redirectLimit: redirects), includesHead: include,
          explains: explain, failsOnError: fail, tellsLimits: !quiet,
          protectsTerminal: output == nil && writesToTerminal)
        let status = try await fetchAll(with: fetcher, content: content)
        // What was used stale is validated for the next time (RFC 5861 §3).
        await cache.finishBackgroundWork(within: .seconds(10))
        return status
      }
    } catch {
      Console.report("httpcache: \(error)")
      throw ExitStatus.failure.code
    }
    await cache.flush()
    guard status == .success else { throw status.code }
  }

  /// Fetches all URLs, a bounded number at once; the status is that of the first that failed.
  private func fetchAll(with fetcher: Fetcher, content: BodyBytes?) async throws -> ExitStatus {
    let destinations = destinations
    return try await withThrowingTaskGroup(of: (Int, TransferReport).self) { group in
      var statuses = [ExitStatus](repeating: .success, count: urls.count)
      var begun = 0
      func begin() {
        guard begun < urls.count, !Task.isCancelled else { return }
        let (index, url) = (begun, urls[begun])
        let request = request(for: url)
        begun += 1
        group.addTask {
          let limit = maxTime.map { Duration.seconds($0) }
          return (
            index,
            await fetcher.fetch(
              request, url: url.text, content: content, to: destinations[index], within: limit)
          )
        }
      }
      for _ in 0..<jobs { begin() }
      while let (index, report) = try await group.next() {
        statuses[index] = report.exitStatus(failing: fail)
        fetcher.meter.end(printing: quiet || json ? nil : report.line)
        if !json, let text = report.explanations { Console.report(text) }
        if json { try Console.printJSON(report.json) }
        begin()
      }
      if begun < urls.count {
        Console.report("httpcache: interrupted before \(HumanText.count(urls.count - begun, "more URL"))")
        statuses[begun] = .interrupted
      }
      return statuses.first { $0 != .success } ?? .success
    }
  }

  private func openCache(_ recorder: StorageRecorder) throws -> HTTPCache {
    let encryption = try location.encryptionKey.encryption()
    do {
      // No memory tier: the process is gone before it could answer anything.
      return try HTTPCache.open(
        HTTPCache.Configuration(
          directory: location.path, memoryCapacity: 0, diskCapacity: capacity.bytes,
          largestEntry: largestEntry.limit, minimumFreeDiskSpace: minimumFree.bytes,
          rules: CacheRules(mode: location.mode), encryption: encryption, observer: recorder))
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private func request(for url: TargetURL) -> HTTPRequest {
    var fields = HTTPFields(headers)
    if fields[.userAgent] == nil { fields[.userAgent] = CommandVersion.userAgent }
    if fields[.accept] == nil { fields[.accept] = "*/*" }
    let named = method.flatMap { HTTPRequest.Method(rawValue: $0) }
    return url.request(named ?? (data == nil ? .get : .post), fields)
  }

  private func content() throws -> BodyBytes? {
    guard let data else { return nil }
    guard data.hasPrefix("@") else { return BodyBytes(Array(data.utf8)) }
    let path = String(data.dropFirst())
    guard let bytes = FileManager.default.contents(atPath: path) else {
      Console.report("httpcache: -d: cannot read \(path)")
      throw ExitStatus.failure.code
    }
    return BodyBytes(bytes)
  }

  /// A `Host` of the caller's may ask another site, whose responses must not be found by the URL.
  private var usedPolicy: CachePolicy {
    headers.contains { $0.field.name.canonicalName == "host" } ? .bypass : policy.policy
  }

  private var writesToTerminal: Bool {
    guard let destination = destinations.first, destinations.count == 1 else { return false }
    return (try? Output.isTerminal(destination)) ?? false
  }

  /// Refuses a report and a body in one stream.
  private func checkOutput() throws {
    guard json, let output, Output.isStandardOutput(output) else { return }
    Console.report(
      "httpcache: --json writes its report to standard output, which \(output) is too; "
        + "name another file with -o")
    throw ExitStatus.usage.code
  }

  /// Where the bodies go, in the order of the URLs.
  private var destinations: [Output.Destination] {
    if let output { return [output == "-" ? .standardOutput : .file(output)] }
    guard usesRemoteName else {
      return urls.count == 1 && !json
        ? [.standardOutput] : urls.map { _ in .nowhere }
    }
    var taken: Set<String> = []
    return urls.map { url in
      let name = FileName.unique(FileName.safe(from: url.path), among: taken)
      taken.insert(name)
      return .file(name)
    }
  }
}
