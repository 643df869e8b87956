public import HTTPCaching

/// The state of a download, and the reason for it.
public enum DownloadState: Sendable, Hashable {
  /// The reason why a download waits.
  public enum Wait: Sendable, Hashable {
    /// Its turn: other downloads are first, or a limit of transfers is reached.
    case slot
    /// A connection: `HTTPCache.isOffline` is set, or the cache's `ConnectivitySignal` says that there is none.
    /// Asked every few seconds; no attempt is counted.
    case network
    /// The time of the next attempt, and why the last one failed.
    case retry(at: Timestamp, after: DownloadFailure)
  }

  /// Where a finished download came from.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// The origin sent the bytes, or the rest of them.
    case fetched
    /// From the cache, after the origin confirmed it (304).
    case validated
    /// From the cache, without asking the origin.
    case cache
    /// The file at the destination is current, and was left as it is.
    case destination
  }

  /// It waits.
  case waiting(Wait)
  /// The origin or the cache was asked, and has not answered.
  case validating
  /// The body arrives.
  case receiving
  /// All bytes are there; they are checked and put at the destination.
  case verifying
  /// Finished.
  case done(Source)
  /// Stopped until `resume`. The bytes that arrived stay in the cache.
  case paused
  /// Given up by `cancel`. The bytes that arrived stay in the cache until evicted.
  case cancelled
  /// Ended without a file.
  case failed(DownloadFailure)

  /// Whether an attempt is running.
  public var isRunning: Bool {
    switch self {
    case .validating, .receiving, .verifying: true
    default: false
    }
  }

  /// Whether nothing more happens unless the caller asks for it.
  public var isEnded: Bool {
    switch self {
    case .done, .cancelled, .failed: true
    default: false
    }
  }
}

extension DownloadState: CustomStringConvertible {
  /// The state in a word, such as `retrying`: an event of `httpcache get --json`.
  public var name: String {
    switch self {
    case .waiting(.slot): "waiting"
    case .waiting(.network): "offline"
    case .waiting(.retry): "retrying"
    case .validating: "validating"
    case .receiving: "receiving"
    case .verifying: "verifying"
    case .done: "done"
    case .paused: "paused"
    case .cancelled: "cancelled"
    case .failed: "failed"
    }
  }

  /// The state for people: its name, and with it the source of a finished download, or the reason of a failure and the
  /// time of the next attempt.
  public var description: String {
    switch self {
    case .waiting(.retry(let time, let failure)): "\(name) at \(time), after \(failure)"
    case .done(let source): "\(name): \(source.rawValue)"
    case .failed(let failure): "\(name): \(failure)"
    case .waiting, .validating, .receiving, .verifying, .paused, .cancelled: name
    }
  }
}
