import HTTPCacheDownloads
import HTTPCaching

/// Runs a queue until no download waits or runs, and shows what happens.
struct QueueRun {
  let cache: HTTPCache
  let name: String
  var configuration = DownloadQueue.Configuration()
  let messages: MessageOptionGroup
  let isJSON: Bool
  /// How the command is told where the cache is, for the advice after an interruption.
  let arguments: String

  /// Opens the queue, gives it to `prepare`, and runs it.
  ///
  /// - Parameter prepare: returns the downloads that this run is about; nil for all.
  /// - Returns: the status of the first failed download of this run.
  func run(
    _ client: OriginClient.Options, _ prepare: (DownloadQueue) async throws -> Set<DownloadID>?
  ) async throws -> ExitStatus {
    try await OriginClient.withUpstream(client) { upstream in
      var settings = configuration
      // Nothing starts before the downloads are known.
      settings.totalLimit = 0
      let queue = try Self.open(
        name, cache, upstream: messages.upstream(upstream, proxies: client.proxies), settings)
      if !messages.quiet {
        for note in queue.openingNotes { Console.report("httpcache: \(note)") }
      }
      do {
        let chosen = try await prepare(queue)
        let status = await watch(queue, chosen)
        await queue.close()
        await cache.flush()
        return Task.isCancelled ? .interrupted : status
      } catch {
        await queue.close()
        throw error
      }
    }
  }

  /// Opens a queue.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  static func open(
    _ name: String, _ cache: HTTPCache, upstream: any Upstream, _ settings: DownloadQueue.Configuration
  ) throws -> DownloadQueue {
    do throws(DownloadError) {
      return try DownloadQueue(name: name, cache: cache, upstream: upstream, configuration: settings)
    } catch {
      throw reporting(error, name)
    }
  }

  /// Reports why a queue cannot be used, and returns the error to throw.
  static func reporting(_ error: DownloadError, _ name: String) -> any Error {
    switch error.code {
    case .inUse:
      Console.report(
        "httpcache: another process downloads with the queue \(name); end it, or use another one with "
          + "--queue NAME")
      return ExitStatus.cacheUnavailable.code
    case .unavailable:
      Console.report("httpcache: \(error)")
      return ExitStatus.cacheUnavailable.code
    default:
      Console.report("httpcache: \(error)")
      return ExitStatus.usage.code
    }
  }

  private func watch(_ queue: DownloadQueue, _ chosen: Set<DownloadID>?) async -> ExitStatus {
    let summary = queue.summary
    let isShown = !messages.quiet && !isJSON && Terminal.isTerminal(2)
    let meter = ProgressMeter(transfers: summary.waiting + summary.running, isShown: isShown)
    var display = DownloadDisplay(
      meter: meter, messages: messages, isJSON: isJSON, clock: cache.configuration.clock)
    display.skip(queue.downloads)
    queue.setLimits(total: configuration.totalLimit)
    for await statuses in queue.changes() {
      for status in statuses { display.show(status) }
      let summary = queue.summary
      if summary.waiting + summary.running == 0 { break }
    }
    let left = queue.summary.waiting + queue.summary.running
    if Task.isCancelled, left > 0, !messages.quiet {
      meter.say(
        "httpcache: interrupted; \(HumanText.count(left, "download")) left in the queue \(name); "
          + "continue with: httpcache downloads resume\(arguments)")
    }
    return display.failures.first { chosen?.contains($0.0) ?? true }?.1 ?? .success
  }
}
