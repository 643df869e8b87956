import ArgumentParser
import HTTPCacheDownloads
import HTTPCaching

/// `httpcache downloads resume`.
struct DownloadsResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Continue downloads, also paused ones, and wait for their end.",
    discussion: "The exit status is that of the first download that fails, as of get.")

  @Argument(
    help: "Identifiers or URLs; without any, all downloads that wait, were interrupted or are paused.")
  var names: [String] = []

  @Flag(help: "Without identifiers and URLs, continue failed downloads, too.")
  var failed = false

  @Option(
    name: [.short, .long, .customLong("parallel")], parsing: .unconditional,
    help: "Number of downloads at once.")
  var jobs = 6

  @Option(
    name: .customLong("limit-rate"), parsing: .unconditional,
    help: ArgumentHelp("Bytes per second of all downloads together, such as 2M.", valueName: "rate"),
    transform: ByteSize.parsed)
  var limitRate: ByteSize?

  @Flag(help: "Report as JSON, one object per line.")
  var json = false

  @OptionGroup(title: "Connection Options") var connection: ConnectionOptionGroup

  @OptionGroup(title: "Message Options") var messages: MessageOptionGroup

  @OptionGroup var queue: QueueLocation

  func validate() throws {
    guard (1...256).contains(jobs) else {
      throw ValidationError("--jobs must be from 1 to 256 (got \(jobs))")
    }
    if let limitRate, limitRate.bytes < 1 { throw ValidationError("--limit-rate must be at least 1") }
    if connection.insecure || messages.writeOut != nil {
      throw ValidationError("-k and -w do not go with a queue")
    }
  }

  func run() async throws {
    try await Interruption.cancelling {
      var configuration = DownloadQueue.Configuration()
      configuration.totalLimit = jobs
      configuration.perHostLimit = jobs
      configuration.rateLimit = limitRate?.bytes
      configuration.startsSaved = false
      let cache = try queue.openCache()
      let run = QueueRun(
        cache: cache, name: queue.name, configuration: configuration, messages: messages,
        isJSON: json, location: queue.location)
      let client = try ExitStatus.reportingUsage { try connection.clientOptions() }
      let status = try await run.run(client, inUse: { try ask(cache) }) { queue in
        let all = queue.downloads
        let chosen = try choose(all)
        if chosen.isEmpty, !messages.quiet {
          Console.report("httpcache: the queue \(queue.name) has no download to continue")
        }
        if names.isEmpty, !failed, !messages.quiet { DownloadsClearCommand.reportFailed(all) }
        for status in chosen where !status.state.isDone { queue.resume(status.id) }
        return Set(chosen.map(\.id))
      }
      guard status == .success else { throw status.code }
    }
  }

  /// The downloads to continue. A cancelled one was given up, and continues only by its name; a failed one would
  /// usually fail again.
  private func choose(_ all: [DownloadStatus]) throws -> [DownloadStatus] {
    names.isEmpty
      ? all.filter { !$0.state.isEnded || failed && $0.state.isFailed }
      : try QueueLocation.find(names, in: all)
  }

  /// Asks the process that runs the queue to continue downloads, and does not wait for their end.
  private func ask(_ cache: HTTPCache) throws -> ExitStatus {
    let count = try queue.ask(for: .resume, in: cache) { all in
      try choose(all).filter { !$0.state.isDone }
    }
    Console.print("asked the process that runs the queue to continue \(HumanText.count(count, "download"))")
    return .success
  }
}

extension DownloadState {
  /// Whether the download has its file.
  var isDone: Bool { if case .done = self { true } else { false } }

  /// Why the download failed, or waits for its next attempt.
  var failure: DownloadFailure? {
    switch self {
    case .failed(let failure), .waiting(.retry(_, let failure)): failure
    case .waiting(.slot), .waiting(.network), .validating, .receiving, .verifying, .done, .paused, .cancelled:
      nil
    }
  }

  /// Whether the download ended without its file, and was not cancelled.
  var isFailed: Bool { if case .failed = self { true } else { false } }
}
