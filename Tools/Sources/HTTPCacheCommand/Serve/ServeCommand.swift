import ArgumentParser
import Foundation
import HTTPCacheArchives
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching
import NIOCore
import NIOPosix

/// `httpcache serve`: a caching proxy.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a caching HTTP proxy: in front of one origin, or for every origin.",
    discussion: """
      In front of one origin (a gateway, or reverse proxy): every request goes to --upstream.

        httpcache serve --upstream https://example.com
        curl -i http://127.0.0.1:8080/

      The origin is told the client's address, scheme and host (X-Forwarded-*, Forwarded). Responses for different \
      hosts are kept apart: `httpcache explain --shared --partition http://127.0.0.1:8080 https://example.com/`.

      For every origin (a forward proxy): clients are configured to use it, and name the origin. Requests for http \
      are cached; https passes through tunnels and is not cached.

        httpcache serve --forward --listen 127.0.0.1:3128
        http_proxy=http://127.0.0.1:3128 curl -i http://example.com/

      Each response from the cache or an origin has a Cache-Status field that tells where it came from and why; the \
      proxy's own refusals have a line of text instead. `httpcache ls --shared` lists \
      stored responses, also while the proxy runs. Requests are logged on standard output, everything else on standard error.

      SIGTERM and Ctrl-C end the proxy: requests under way may take --grace seconds more. A second signal ends it at \
      once. SIGHUP reads certificates and tokens again and opens --access-log-file again, SIGUSR1 the latter alone. \
      SIGUSR2 is ignored.

      Exit status:
      \(ExitStatus.help([
        .success: "ended by a signal", .failure: "it cannot listen, or use a log, token or certificate", .output: "the recording is lost",
        .newerFormat: nil, .cacheUnavailable: nil, .usage: nil, .interrupted: "ended by a second signal",
      ]))
      """)

  @OptionGroup(title: "Where requests go") var route: RouteOptions

  @OptionGroup(title: "Options of --upstream") var gatewayOptions: GatewayOptions

  @OptionGroup(title: "Options of --forward") var forwardOptions: ForwardOptions

  @OptionGroup(title: "TLS") var tls: TLSOptions

  @OptionGroup(title: "Silence") var silence: SilenceOptions

  @OptionGroup(title: "Admin") var admin: AdminOptions

  @OptionGroup(title: "Purging") var purging: PurgeOptions

  @OptionGroup(title: "Fleet") var fleet: ServeFleetOptions

  @OptionGroup(title: "Recording") var recording: RecordingOptions

  @OptionGroup(title: "Log") var log: AccessLogOptions

  @Flag(help: "Follow the rules of a cache for many users, or for one user.")
  var mode: Mode = .shared

  @Flag(
    help:
      "Never store responses with Set-Cookie. Otherwise a shared cache stores those with public, without the field."
  )
  var refuseSetCookie = false

  @Flag(help: "Store Set-Cookie of responses with an explicit lifetime, and give the cookie to all clients.")
  var keepSetCookie = false

  @Flag(help: "Store no errors that a field of the request may cause: 4xx except 404 and 410, and 501.")
  var refuseClientErrors = false

  @Flag(
    inversion: .prefixedNo,
    help: "Guess the lifetime of responses that have none from Last-Modified.")
  var heuristics = true

  @Option(
    help: ArgumentHelp(
      "The directory of the cache. (default: ~/.cache/httpcache/shared, or private)", valueName: "directory"))
  var dir: String?

  @Option(
    name: [.customLong("capacity"), .customLong("disk")],
    help: ArgumentHelp(
      """
      Maximum bytes of the directory; kept in the directory, as by config --capacity. 0 stores in memory \
      only, and does not change the directory. (default: the directory's, 1G for a new one)
      """, valueName: "bytes"), transform: ByteSize.parsed)
  var disk: ByteSize?

  @Option(
    help: ArgumentHelp("The capacity in memory in bytes, such as 256M. (default: 32M)", valueName: "bytes"),
    transform: ByteSize.parsed)
  var memory = ByteSize(bytes: 32 << 20)

  @Option(
    help: ArgumentHelp(
      "Number of threads that serve. (default: the processors that this process may use)", valueName: "count")
  )
  var eventLoops: Int?

  @Option(
    help: ArgumentHelp(
      "The longest body to store: bytes such as 64M, or a share of each capacity such as 10%. (default: 50%)",
      valueName: "bytes"), transform: LargestEntryArgument.parsed)
  var largestEntry = LargestEntryArgument(.share(0.5))

  @Option(
    name: .customLong("min-free"),
    help: ArgumentHelp(
      """
      Bytes to leave free on the file system; kept in the directory. 0 disables the check. (default: the \
      directory's, 128M for a new one)
      """, valueName: "bytes"), transform: ByteSize.parsed)
  var minimumFree: ByteSize?

  @Flag(
    help: """
      Start even if the directory cannot be used, and store in memory only. Purges and POSTs then leave what the directory \
      has: it answers again after a start with the directory.
      """)
  var allowNoCache = false

  @Option(
    help: ArgumentHelp(
      """
      Seconds to connect to an origin, and to wait for the head of its response once the request is sent. \
      (default: 60)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var timeout: Int64 = 60

  @Option(
    help: ArgumentHelp(
      "Seconds that requests may still take after SIGTERM or Ctrl-C. (default: 10)", valueName: "seconds"),
    transform: SecondsArgument.whole)
  var grace: Int64 = 10

  @OptionGroup var seeds: SeedOptionGroup

  @OptionGroup var encryptionKey: EncryptionKeyOption

  @Flag(name: .shortAndLong, help: "Log cache activity to standard error.")
  var verbose = false

  /// The rules to obey.
  enum Mode: String, EnumerableFlag {
    case shared
    case `private`
  }

  func validate() throws {
    let forward = route.forward
    if forward, route.isRemote, forwardOptions.allow.isEmpty {
      throw ValidationError(
        "--forward on \(route.listen) requires --allow HOST; --allow '*' allows every host.")
    }
    if forward, gatewayOptions.preserveHost { throw ValidationError("--preserve-host requires --upstream.") }
    if !forward, let option = forwardOptions.used { throw ValidationError("\(option) requires --forward.") }
    if recording.isMemoryOnly, dir != nil || (disk ?? ByteSize(bytes: 0)).bytes > 0 {
      throw ValidationError(
        "--record and --replay store in memory only: --dir and --capacity cannot be used.")
    }
    if fleet.place.fleet != nil {
      if mode == .private {
        throw ValidationError("--fleet requires a shared cache: --private cannot be used.")
      }
      if recording.isMemoryOnly { throw ValidationError("--record and --replay exclude --fleet.") }
    }
    if admin.admin == route.listen, route.listen.port != 0 {
      throw ValidationError("--listen and --admin must differ (both are \(route.listen)).")
    }
    guard (1...3600).contains(timeout) else {
      throw ValidationError("--timeout must be between 1 and 3600 seconds (got \(timeout)).")
    }
    if let eventLoops, !(1...256).contains(eventLoops) {
      throw ValidationError("--event-loops must be from 1 to 256 (got \(eventLoops)).")
    }
    guard (0...3600).contains(grace) else {
      throw ValidationError("--grace must be between 0 and 3600 seconds (got \(grace)).")
    }
  }

  /// Serves until SIGTERM or SIGINT.
  func run() async throws {
    let messages = LineWriter(descriptor: STDERR_FILENO)
    do {
      let file = try readFile()
      if route.check { return try await check(file) }
      try await serve(messages, file)
    } catch {
      await messages.flush()
      throw error
    }
    await messages.flush()
  }

  private func serve(_ messages: LineWriter, _ file: ServeFile?) async throws {
    // Neither a log without a reader, nor one at the limit for the size of files, nor a signal with a meaning in other
    // servers, nor a reload that is asked for before the start is done may end the process.
    for number in [SIGPIPE, SIGXFSZ, SIGUSR2, SIGHUP, SIGUSR1] { signal(number, SIG_IGN) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: eventLoops ?? Processors.count)
    let (serverConfiguration, connections, files) = try configurations(messages, file)
    let events = EventCounts(next: observer(messages))
    var originConfiguration = connections
    originConfiguration.addressFailed = { events.addressFailed($0) }
    // Opening the cache gives the directory the capacity of this server, and evicts what is over it.
    try checkAddresses(file)
    let member = try await fleetMember(messages, file)
    let cache = try openCache(messages, observer: events, file, member: member)
    await member?.join(cache)
    let origins = try NIOUpstream(group: group, configuration: originConfiguration)
    let logger = serverConfiguration.logger
    let recorded = try recording.upstream(over: origins)
    let exchanges: any Upstream = recorded ?? origins
    // Before the first request is answered: a signal that comes after one ends the server in order.
    let signals = await TerminationSignals.stream(others: [SIGHUP, SIGUSR1], secondEnds: true)
    let server: ProxyServer
    do {
      server = try await ProxyServer.start(
        serverConfiguration, cache: cache, upstream: origins,
        exchanges: purging.tagsAsGroups ? GroupTagsUpstream(exchanges, logger: logger) : exchanges,
        group: group)
    } catch {
      throw StartFailure(listening: route.listen, error).located(in: file).reported()
    }
    let admin = try await startAdmin(
      AdminRoutes(cache: cache, server: server, events: events), access: files.admin, group: group,
      logger: logger, file: file)
    let note = makeNote(ServeRecord(self, file, port: server.port), messages)
    announce(server, admin, member, messages)
    let mode = serverConfiguration.mode
    Task { for message in await UnresolvedUpstreams.messages(mode) { messages.add(message + "\n") } }
    let keeping = Task { try await Self.keep(cache, server: server, note: note) }
    let running = RunningServe(command: self, file: file, files: files, note: note)
    for await number in signals {
      guard number == SIGHUP || number == SIGUSR1 else { break }
      running.reload(
        after: number, server: server, log: serverConfiguration.accessLog, messages: messages)
    }
    keeping.cancel()
    note?.end()
    let end = NIODeadline.now() + .seconds(grace)
    // First, so that the next server can take the address while the clients of this one are served.
    await admin?.shutDown()
    messages.add(
      "httpcache: ending; requests under way may take \(HumanText.duration(grace)), a second signal ends at once\n"
    )
    await server.shutDown(deadline: .seconds(grace))
    await admin?.finish(until: end)
    await member?.leave(cache)
    if let recorded { try await finish(recorded, messages) }
    // The event loops are not ended: requests in the background still use them, and SwiftNIO ends a process that uses an
    // ended loop and cannot say so on standard error. Until here a second signal ends the process at once.
    withExtendedLifetime(signals) {}
  }

  /// Says where the listeners are, and of which fleet this is a node.
  private func announce(
    _ server: ProxyServer, _ admin: AdminServer?, _ member: FleetMember?, _ messages: LineWriter
  ) {
    let bound = route.listen.bound(to: server.port)
    messages.add("httpcache: listening on \(tls.tlsCertificate.isEmpty ? "http" : "https")://\(bound)\n")
    if let admin, let address = self.admin.admin {
      messages.add("httpcache: admin listener on http://\(address.bound(to: admin.port))\n")
    }
    if let member { messages.add("httpcache: \(member)\n") }
  }

  private func finish(_ recorded: ReplayUpstream, _ messages: LineWriter) async throws {
    do throws(CacheError) {
      let count = try await recorded.finish()
      if let file = recording.record {
        messages.add("httpcache: \(HumanText.count(count, "exchange")) recorded in \(file)\n")
        if recorded.leftOut > 0 {
          messages.add(
            "httpcache: \(recorded.leftOut) left out: a recording has at most 1 GiB of bodies\n")
        }
      }
    } catch {
      messages.add("httpcache: the recording is lost: \(error)\n")
      throw ExitStatus.output.code
    }
  }
}
