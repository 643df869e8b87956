import HTTPCaching

/// A message of a running attempt to its queue.
enum AttemptNews: Sendable {
  /// The next step began.
  case state(DownloadState)
  /// The head of the response with the file arrived.
  case head(ResponseValidators, expected: Int64?, restart: DownloadRestart?)
  case progress(DownloadMeter.Progress)
  /// The origin does not take ranges.
  ///
  /// - Parameter isRestart: whether ranges had arrived.
  case oneStream(isRestart: Bool)
  /// The part file is about to be moved to the destination: from now on a file like this there is the queue's.
  case placing(PlacedFile)

  var isPlacing: Bool { if case .placing = self { true } else { false } }
}

/// The bytes of an attempt that did not complete the file.
struct AttemptBytes: Sendable {
  /// How far in the file the bytes came that it read; 0 if it read none.
  let reached: Int64
  /// The bytes of the file that are there for the next attempt.
  let kept: Int64
}

/// How an attempt ended.
enum AttemptEnd: Sendable {
  case done(DownloadState.Source, received: Int64)
  /// - Parameter retryAfter: the seconds that the origin asked to wait; nil if it did not.
  case failed(DownloadFailure, retryAfter: Int64?, AttemptBytes)
  /// There is no connection to any origin.
  case offline(AttemptBytes)
  /// The cache did not keep the response: the next attempt writes to the destination.
  case notKept
  /// The task was cancelled.
  case stopped(AttemptBytes)
}
