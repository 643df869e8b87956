/// A snapshot of a download.
public struct DownloadStatus: Sendable, Hashable, Identifiable {
  /// The name of the download in its queue.
  public let id: DownloadID
  let shared: SharedDownload
  /// The download as it was added.
  public var download: Download { shared.download }
  /// The state, with its reason.
  public let state: DownloadState
  /// Bytes of the file that have arrived.
  public let received: Int64
  /// The length of the file in bytes; nil if unknown.
  public let expected: Int64?
  /// Bytes per second, smoothed over some seconds; 0 while nothing arrives.
  public let rate: Double
  /// Attempts in a row that brought no new bytes.
  public let tries: Int
  /// How often it began again at its first byte.
  public let restarts: Int
  /// Why it began again last; nil if it never did.
  public let lastRestart: DownloadRestart?

  /// The share that has arrived, from 0 to 1; nil if the length is unknown.
  public var fraction: Double? {
    if case .done = state { return 1 }
    return expected.map { $0 == 0 ? 1 : min(1, Double(received) / Double($0)) }
  }

  /// The time until all bytes have arrived at the current rate; nil if that cannot be told.
  public var timeLeft: Duration? { expected.flatMap { TimeLeft.of($0 - received, rate: rate) } }
}

/// A snapshot of all downloads of a queue.
public struct DownloadSummary: Sendable, Hashable {
  /// The number of downloads that wait for a turn or for a retry.
  public internal(set) var waiting = 0
  /// The number of downloads that wait until they are added again or resumed.
  public internal(set) var held = 0
  /// The number of downloads with a running attempt.
  public internal(set) var running = 0
  /// The number of paused downloads.
  public internal(set) var paused = 0
  /// The number of finished downloads.
  public internal(set) var done = 0
  /// The number of failed downloads.
  public internal(set) var failed = 0
  /// The number of cancelled downloads.
  public internal(set) var cancelled = 0
  /// Bytes that have arrived, of downloads that are not cancelled, failed or held.
  public internal(set) var received: Int64 = 0
  /// Bytes of the files whose length is known, of downloads that are not cancelled, failed or held.
  public internal(set) var expected: Int64 = 0
  /// The number of downloads whose length is not known, and that are not cancelled, failed or held.
  public internal(set) var unknownLengths = 0
  /// Bytes per second of all running downloads, smoothed.
  public internal(set) var rate: Double = 0

  /// The number of downloads.
  public var count: Int { waiting + held + running + paused + done + failed + cancelled }

  /// The share that has arrived, from 0 to 1; nil while a length is unknown.
  public var fraction: Double? {
    guard unknownLengths == 0 else { return nil }
    return expected == 0 ? 1 : min(1, Double(received) / Double(expected))
  }

  /// The time until all bytes have arrived at the current rate; nil if that cannot be told.
  public var timeLeft: Duration? {
    unknownLengths == 0 ? TimeLeft.of(expected - received, rate: rate) : nil
  }

  /// Adds a download (`sign` 1) or takes it out (`sign` -1).
  mutating func count(_ item: DownloadItem, sign: Int) {
    switch item.state {
    case .waiting where item.isHeld:
      held += sign
      return
    case .waiting: waiting += sign
    case .validating, .receiving, .verifying: running += sign
    case .paused: paused += sign
    case .done: done += sign
    case .failed:
      failed += sign
      return
    case .cancelled:
      cancelled += sign
      return
    }
    received = received.adding(Int64(sign), times: item.received)
    if let length = item.expected {
      expected = expected.adding(Int64(sign), times: length)
    } else {
      unknownLengths += sign
    }
    // Differences of doubles leave a rest, which must not show as a rate.
    rate = running == 0 ? 0 : max(0, rate + Double(sign) * item.rate)
  }
}

enum TimeLeft {
  /// Nil at a rate below a byte per second, and for more than a hundred years.
  static func of(_ bytes: Int64, rate: Double) -> Duration? {
    guard bytes > 0 else { return .zero }
    guard rate >= 1, Double(bytes) / rate < 3_155_760_000 else { return nil }
    return .seconds(Double(bytes) / rate)
  }
}

extension Int64 {
  /// Adds or takes away a number, saturating: lengths come from origins.
  func adding(_ sign: Int64, times other: Int64) -> Int64 {
    let (sum, overflow) =
      sign > 0 ? addingReportingOverflow(other) : subtractingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

/// Why a download began again at its first byte.
public enum DownloadRestart: String, Sendable, Hashable, CaseIterable {
  /// The representation has another ETag, Last-Modified or length than before.
  case changed
  /// The origin sent the whole representation instead of the missing range.
  case rangeIgnored
  /// The cache no longer has the bytes or never kept them, and no part beside the destination has them.
  case notKept
}
