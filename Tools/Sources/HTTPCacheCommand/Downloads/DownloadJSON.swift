import HTTPCacheDownloads
import HTTPCaching

/// One line of `get --json` with a queue, and of `downloads list --json`.
struct DownloadJSON: Encodable {
  /// Why a download failed, or waits.
  struct Failure: Encodable {
    var kind: String
    var message: String
  }

  var event: String
  var id: String
  var url: String
  var file: String?
  var received: Int64
  var expected: Int64?
  /// Bytes per second.
  var rate: Double?
  /// Where the bytes of a finished download came from.
  var source: String?
  var failure: Failure?
  /// Seconds since 1970.
  var retryAt: Int64?
  var restarts: Int?
  var lastRestart: String?

  init(_ status: DownloadStatus, event: String) {
    self.event = event
    id = status.id.description
    url = status.download.url
    file = status.download.destination
    received = status.received
    expected = status.expected
    if status.rate > 0 { rate = status.rate.rounded() }
    if status.restarts > 0 { (restarts, lastRestart) = (status.restarts, status.lastRestart?.rawValue) }
    switch status.state {
    case .done(let source): self.source = source.rawValue
    case .failed(let failure): self.failure = Self.failure(failure)
    case .waiting(.retry(let time, let failure)):
      self.failure = Self.failure(failure)
      retryAt = time.seconds
    case .waiting(.slot), .waiting(.network), .validating, .receiving, .verifying, .paused, .cancelled: break
    }
  }

  private static func failure(_ failure: DownloadFailure) -> Failure {
    Failure(kind: failure.kind.rawValue, message: failure.message)
  }
}
