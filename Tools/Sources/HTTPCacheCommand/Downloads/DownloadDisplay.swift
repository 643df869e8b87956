import HTTPCacheDownloads
import HTTPCaching

/// Shows what happens to downloads: lines, bars on a terminal, or JSON.
struct DownloadDisplay {
  private struct Known {
    var state: DownloadState
    var restarts: Int
    var bar: ProgressMeter.Bar?
    var toldProgress: Duration?
  }

  let meter: ProgressMeter
  let messages: MessageOptionGroup
  let isJSON: Bool
  let clock: any CacheClock
  private var known: [DownloadID: Known] = [:]
  /// The downloads that failed, in the order of their failures.
  private(set) var failures: [(DownloadID, ExitStatus)] = []

  init(meter: ProgressMeter, messages: MessageOptionGroup, isJSON: Bool, clock: any CacheClock) {
    self.meter = meter
    self.messages = messages
    self.isJSON = isJSON
    self.clock = clock
  }

  /// Notes downloads that ended before this run, and those that the run is not about, so that they are not shown.
  ///
  /// - Parameter chosen: the downloads that the run is about; nil for all.
  mutating func skip(_ statuses: [DownloadStatus], chosen: Set<DownloadID>?) {
    for status in statuses
    where status.state.isEnded || status.state == .paused || chosen?.contains(status.id) == false {
      known[status.id] = Known(state: status.state, restarts: status.restarts)
    }
  }

  /// Whether a download was shown as done.
  func isDone(_ id: DownloadID) -> Bool {
    if case .done? = known[id]?.state { true } else { false }
  }

  /// Shows a download, if it changed.
  mutating func show(_ status: DownloadStatus) {
    let before = known[status.id]
    var now = before ?? Known(state: .waiting(.slot), restarts: status.restarts)
    if status.restarts > now.restarts, let reason = status.lastRestart {
      say("\(status.download.url): \(Self.text(reason)); starting over")
      print(DownloadJSON(status, event: "restarted"))
    }
    now.restarts = status.restarts
    drawBar(status, &now)
    if before?.state != status.state {
      now.state = status.state
      tell(status)
    } else if isJSON, status.state == .receiving {
      let uptime = clock.uptime
      if now.toldProgress.map({ uptime - $0 >= .seconds(1) }) ?? true {
        now.toldProgress = uptime
        print(DownloadJSON(status, event: "progress"))
      }
    }
    known[status.id] = now
  }

  private mutating func tell(_ status: DownloadStatus) {
    let name = status.download.url
    print(DownloadJSON(status, event: status.state.name))
    switch status.state {
    case .validating, .receiving, .verifying, .waiting(.slot): break
    case .waiting(.network): say("\(name): waiting for the network")
    case .waiting(.retry(let time, let failure)):
      let wait = HumanText.duration(max(0, time.seconds - clock.now.seconds))
      say("\(name): \(failure.message); trying again in \(wait)")
    case .paused, .cancelled: say("\(name): \(status.state.name)")
    case .done(let source): end("\(name): \(Self.text(source, status))", isFailure: false)
    case .failed(let failure):
      failures.append((status.id, ExitStatus(failure)))
      let isUnstored = failure.kind == .notStored && status.download.destination == nil
      let way =
        failure.isContradiction
        ? "; get --no-resume begins anew" : isUnstored ? "; -o FILE writes it to a file" : ""
      end("\(name): failed: \(failure.message)\(way)", isFailure: true)
    }
  }

  private func drawBar(_ status: DownloadStatus, _ now: inout Known) {
    if now.bar == nil, status.state == .receiving {
      now.bar = meter.begin(status.download.url, length: status.expected, from: status.received)
    }
    guard let bar = now.bar else { return }
    meter.add(0, to: bar, at: status.received)
    guard status.state.isEnded else { return }
    meter.leave(bar)
    now.bar = nil
  }

  private func say(_ line: String) {
    if !messages.quiet, !isJSON { meter.say(line) }
  }

  private func end(_ line: String, isFailure: Bool) {
    meter.end(printing: messages.shows(failure: isFailure) && !isJSON ? line : nil)
  }

  private func print(_ event: DownloadJSON) {
    if isJSON { try? Console.printJSON(event) }
  }

  private static func text(_ source: DownloadState.Source, _ status: DownloadStatus) -> String {
    let place = status.download.destination.map { " to \($0)" } ?? ""
    let size = HumanText.bytes(status.received)
    return switch source {
    case .fetched: status.download.destination == nil ? "\(size) stored in the cache" : "\(size)\(place)"
    case .validated: "\(size)\(place), from the cache: not changed"
    case .cache: "\(size)\(place), from the cache"
    case .destination: "\(status.download.destination ?? "") is current"
    }
  }

  private static func text(_ restart: DownloadRestart) -> String {
    switch restart {
    case .changed: "the file changed"
    case .rangeIgnored: "the origin sent the whole file"
    case .notKept: "what arrived was not kept"
    }
  }
}

extension ExitStatus {
  /// The status for a failed download.
  init(_ failure: DownloadFailure) {
    switch failure.kind {
    case .gone, .forbidden, .status, .serverError: self = .httpError
    case .unreachable: self = .unreachable
    case .timeout: self = .timeout
    case .tls: self = .tls
    case .interrupted, .redirects, .changed, .wrongDigest: self = .brokenProtocol
    case .notStored: self = .notStored
    case .fullDisk, .destinationExists, .destinationIsFolder, .destinationIsLink, .noFolder, .readOnly, .io:
      self = .output
    }
  }
}
