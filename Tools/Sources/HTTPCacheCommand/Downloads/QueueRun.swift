import HTTPCacheDownloads
import HTTPCaching

/// Runs a queue until no download waits or runs, and shows what happens.
struct QueueRun {
  let cache: HTTPCache
  var name: String
  /// The queues to use in this order while another process runs the queue.
  var otherNames: [String] = []
  var configuration = DownloadQueue.Configuration()
  let messages: MessageOptionGroup
  let isJSON: Bool
  /// For the advice after an interruption.
  let location: CacheLocation

  private var arguments: String {
    QueueLocation.arguments(queue: name == QueueOptionGroup.defaultName ? nil : name, location)
  }

  /// Opens the queue, gives it to `prepare`, and runs it.
  ///
  /// - Parameters:
  ///   - prepare: returns the downloads that this run is about; nil for all.
  ///   - inUse: is called instead if another process runs the queue; nil makes that an error.
  /// - Returns: the status of the first failed download of this run.
  func run(
    _ client: OriginClient.Options, inUse: (() throws -> ExitStatus)? = nil,
    _ prepare: (DownloadQueue) async throws -> Set<DownloadID>?
  ) async throws -> ExitStatus {
    try await OriginClient.withUpstream(client) { upstream in
      var settings = configuration
      settings.limitSilence(as: client)
      // Nothing starts before the downloads are known.
      settings.totalLimit = 0
      let queue: DownloadQueue
      do throws(DownloadError) {
        queue = try openQueue(messages.upstream(upstream, proxies: client.proxies), settings)
      } catch {
        if error.code == .inUse, let inUse { return try inUse() }
        throw Self.reporting(error, name)
      }
      if !messages.quiet {
        for note in queue.openingNotes { Console.report("httpcache: \(note)") }
      }
      do {
        let chosen = try await prepare(queue)
        var opened = self
        opened.name = queue.name
        let status = await opened.watch(queue, chosen)
        await queue.close()
        await cache.flush()
        return Task.isCancelled ? .interrupted : status
      } catch {
        await queue.close()
        throw error
      }
    }
  }

  /// Opens the first of the queues that no other process runs.
  private func openQueue(
    _ upstream: any Upstream, _ settings: DownloadQueue.Configuration
  ) throws(DownloadError) -> DownloadQueue {
    for name in [name] + otherNames {
      do throws(DownloadError) {
        return try DownloadQueue(name: name, cache: cache, upstream: upstream, configuration: settings)
      } catch {
        if error.code != .inUse { throw error }
      }
    }
    throw DownloadError(.inUse, name)
  }

  /// Reports why a queue cannot be used, and returns the error to throw.
  static func reporting(_ error: DownloadError, _ name: String) -> any Error {
    switch error.code {
    case .inUse:
      Console.report(
        "httpcache: another process downloads with the queue \(name); end it, or use another one with "
          + "--queue NAME")
      return ExitStatus.failure.code
    case .unavailable, .notOpen:
      Console.report("httpcache: \(error)")
      return ExitStatus.cacheUnavailable.code
    case .destinationInUse:
      Console.report("httpcache: \(error.message); get --no-resume takes it out of the list")
      return ExitStatus.usage.code
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
    display.skip(queue.downloads, chosen: chosen)
    queue.setLimits(total: configuration.totalLimit)
    for await statuses in queue.changes() {
      for status in statuses { display.show(status) }
      let summary = queue.summary
      if summary.waiting + summary.running == 0 { break }
    }
    // A download may have ended after the last statuses were read.
    let last = queue.downloads
    for status in last { display.show(status) }
    let end = queue.summary
    if Task.isCancelled, end.waiting + end.running > 0 {
      let left = HumanText.count(end.waiting + end.running + end.held, "download")
      say(
        "interrupted; \(left) left in the queue \(name); "
          + "continue with: httpcache downloads resume\(arguments)", meter)
    }
    if let failure = display.failures.first(where: { chosen?.contains($0.0) ?? true }) { return failure.1 }
    return ending(of: last, chosen: chosen, display: display, meter: meter)
  }

  /// The status after no download has failed. Another process may have removed, cancelled or paused some.
  private func ending(
    of last: [DownloadStatus], chosen: Set<DownloadID>?, display: DownloadDisplay, meter: ProgressMeter
  ) -> ExitStatus {
    let removed = (chosen ?? []).subtracting(last.map(\.id)).filter { !display.isDone($0) }
    let cancelled = last.filter { $0.state == .cancelled && chosen?.contains($0.id) ?? false }
    let paused = last.filter { $0.state == .paused && chosen?.contains($0.id) ?? true }
    if !removed.isEmpty {
      say("\(HumanText.count(removed.count, "download")) removed from the queue \(name)", meter)
    }
    if !cancelled.isEmpty {
      say("\(HumanText.count(cancelled.count, "download")) cancelled in the queue \(name)", meter)
    }
    if !paused.isEmpty {
      say(
        "\(HumanText.count(paused.count, "download")) paused in the queue \(name); "
          + "continue with: httpcache downloads resume\(arguments)", meter)
    }
    return removed.isEmpty && cancelled.isEmpty && paused.isEmpty ? .success : .failure
  }

  private func say(_ text: String, _ meter: ProgressMeter) {
    if !messages.quiet { meter.say("httpcache: \(text)") }
  }
}

extension DownloadQueue.Configuration {
  /// Sets the limits of silence to those of a client.
  mutating func limitSilence(as client: OriginClient.Options) {
    headLimit = client.headTimeout
    // A limit that the caller gives counts for bodies, too.
    if client.silence != nil { stallLimit = client.headTimeout }
  }
}
