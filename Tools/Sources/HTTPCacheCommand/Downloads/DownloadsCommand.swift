import ArgumentParser
import HTTPCacheDownloads
import HTTPCaching

/// `httpcache downloads`: the list of a queue.
struct DownloadsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "downloads", abstract: "List, pause, resume, cancel and remove downloads of a queue.",
    discussion: """
      The downloads of `get` with --input-file, --queue, --segments, --limit-rate, --checksum, --link or --no-resume \
      are in a list beside the cache, until they are removed. If another process runs the queue, these \
      commands ask it to change its downloads. A download is named by its identifier, by the identifier's \
      first 4 digits or more, or by its URL. resume ends with the status of the first download that fails.

      Exit status:
      \(ExitStatus.help([
        .success: nil,
        .failure: "no download has that name, or one was paused, cancelled or removed while resume waited for it",
        .httpError: "the origin answered without the file", .unreachable: nil, .timeout: nil, .tls: nil,
        .brokenProtocol: nil, .notStored: "the cache does not store a download without a file", .output: nil,
        .newerFormat: nil,
        .cacheUnavailable: "there is no cache in the directory, or its list cannot be read, or only in part",
        .usage: nil, .interrupted: nil,
      ]))
      """,
    subcommands: [
      DownloadsListCommand.self, DownloadsPauseCommand.self, DownloadsResumeCommand.self,
      DownloadsCancelCommand.self, DownloadsRemoveCommand.self, DownloadsClearCommand.self,
    ],
    defaultSubcommand: DownloadsListCommand.self)
}

/// `httpcache downloads list`.
struct DownloadsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the downloads of a queue as they were last saved.",
    discussion: """
      A download that another process runs is listed as running, with the bytes that it had when it began. The last \
      column is the reason why a download failed, or waits for its next try.
      """)

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @OptionGroup var queue: QueueLocation

  func run() async throws {
    let cache = try queue.openCache()
    let downloads: [DownloadStatus]
    var isDamaged = false
    do throws(DownloadError) {
      downloads = try DownloadQueue.saved(queue.name, in: cache) { damage in
        Console.report("httpcache: \(damage)")
        isDamaged = true
      }
    } catch {
      throw QueueRun.reporting(error, queue.name)
    }
    try show(downloads, isDamaged: isDamaged)
    if isDamaged { throw ExitStatus.cacheUnavailable.code }
  }

  private func show(_ downloads: [DownloadStatus], isDamaged: Bool) throws {
    if json {
      for status in downloads {
        try Console.printJSON(DownloadJSON(status, event: Self.name(of: status.state)))
      }
      return
    }
    guard !downloads.isEmpty else {
      if !isDamaged { Console.report("httpcache: the queue \(queue.name) is empty") }
      return
    }
    var table = TextTable(
      ["id", "state", "bytes", "of", "url", "file", "reason"],
      [.leading, .leading, .trailing, .trailing, .leading, .leading, .leading])
    for status in downloads {
      table.add([
        status.id.description, Self.name(of: status.state), HumanText.bytes(status.received),
        status.expected.map(HumanText.bytes) ?? "?", status.download.url, status.download.destination ?? "-",
        status.state.failure?.message ?? "-",
      ])
    }
    table.lines.forEach(Console.print)
  }

  /// A state in a word. The list does not tell the steps of an attempt apart.
  private static func name(of state: DownloadState) -> String {
    state.isRunning ? "running" : state.name
  }
}

/// `httpcache downloads pause`.
struct DownloadsPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Keep downloads from continuing until they are resumed.")

  @Argument(help: "Identifiers or URLs; without any, all downloads.")
  var names: [String] = []

  @OptionGroup var queue: QueueLocation

  func run() async throws {
    let (count, way) = try await queue.change(.pause) { all in
      let chosen = names.isEmpty ? all : try QueueLocation.find(names, in: all)
      return chosen.filter { !$0.state.isEnded }
    }
    Console.print("\(way.past("paused", "pause")) \(HumanText.count(count, "download"))")
  }
}

/// `httpcache downloads cancel`.
struct DownloadsCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Give downloads up and keep them in the list. A resume that names them starts them again.")

  @Argument(help: "Identifiers or URLs.")
  var names: [String]

  @OptionGroup var queue: QueueLocation

  func run() async throws {
    let (count, way) = try await queue.change(.cancel) { all in
      try QueueLocation.find(names, in: all).filter { !$0.state.isDone }
    }
    Console.print("\(way.past("cancelled", "cancel")) \(HumanText.count(count, "download"))")
  }
}

/// `httpcache downloads remove`.
struct DownloadsRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Take downloads out of the list. Finished files stay.")

  @Argument(help: "Identifiers or URLs.")
  var names: [String]

  @OptionGroup var queue: QueueLocation

  func run() async throws {
    let (count, way) = try await queue.change(.remove) { try QueueLocation.find(names, in: $0) }
    Console.print("\(way.past("removed", "remove")) \(HumanText.count(count, "download"))")
  }
}

/// `httpcache downloads clear`.
struct DownloadsClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Take finished and cancelled downloads out of the list.")

  @Flag(help: "Take out failed downloads, too, with what arrived of their files.")
  var failed = false

  @Flag(help: "Take out all downloads, also those that wait, are paused or failed.")
  var all = false

  @OptionGroup var queue: QueueLocation

  func run() async throws {
    let (count, way) = try await queue.change(.remove) { downloads in
      if !all, !failed { Self.reportFailed(downloads) }
      return downloads.filter { all || ($0.state.isFailed ? failed : $0.state.isEnded) }
    }
    Console.print("\(way.past("removed", "remove")) \(HumanText.count(count, "download"))")
  }

  /// Tells how many failed downloads are left out, and the option that includes them.
  static func reportFailed(_ downloads: [DownloadStatus]) {
    let count = downloads.count(where: { $0.state.isFailed })
    guard count > 0 else { return }
    Console.report(
      "httpcache: left out \(HumanText.count(count, "failed download")); --failed includes failed downloads")
  }
}
