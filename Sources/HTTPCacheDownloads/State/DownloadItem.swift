import HTTPCaching

/// The state of one download in a queue. All properties except `rate` and `isHeld` are in the list on disk.
struct DownloadItem: Sendable, Equatable {
  let id: DownloadID
  private(set) var shared: SharedDownload
  /// Among downloads of one priority, the lower number starts first.
  var position: Int64
  var state: DownloadState = .waiting(.slot)
  var received: Int64 = 0
  var expected: Int64?
  /// The validators of the response that `received` counts bytes of.
  var validators = ResponseValidators()
  /// Whether the head of a response with the file has arrived.
  var hasBegun = false
  /// The most bytes that any attempt at this representation had.
  var furthest: Int64 = 0
  /// Attempts in a row that brought no new bytes.
  var tries = 0
  var restarts = 0
  /// The restarts because the representation changed.
  var changes = 0
  var lastRestart: DownloadRestart?
  /// When the first attempt since `add` or `resume` began.
  var firstTry: Timestamp?
  /// Whether bytes go to the destination as they arrive, because the cache did not keep them.
  var writesDirectly = false
  /// The file at the destination that this queue wrote, or is about to move there.
  var placed: PlacedFile?
  /// Whether the origin did not take ranges.
  var usesOneStream = false
  var rate: Double = 0
  /// Whether a waiting download does not start before it is added again or resumed.
  var isHeld = false

  init(id: DownloadID, download: Download, position: Int64) {
    self.id = id
    shared = SharedDownload(download)
    self.position = position
  }

  var download: Download {
    get { shared.download }
    set { shared = SharedDownload(newValue) }
  }

  /// The host and port that the limit of transfers per host counts.
  var host: String { download.request.authority ?? "" }

  var status: DownloadStatus {
    DownloadStatus(
      id: id, shared: shared, state: state, received: received, expected: expected, rate: rate,
      tries: tries, restarts: restarts, lastRestart: lastRestart)
  }
}

/// A download on the heap: it is large, and items and snapshots are copied often.
final class SharedDownload: Sendable, Hashable {
  let download: Download

  init(_ download: Download) { self.download = download }

  static func == (lhs: SharedDownload, rhs: SharedDownload) -> Bool {
    lhs === rhs || lhs.download == rhs.download
  }

  func hash(into hasher: inout Hasher) { hasher.combine(download) }
}

/// The validators of a representation (RFC 9110 §8.8).
struct ResponseValidators: Sendable, Hashable {
  var eTag: String?
  var lastModified: String?

  init(eTag: String? = nil, lastModified: String? = nil) {
    self.eTag = eTag
    self.lastModified = lastModified
  }

  init(_ fields: HTTPFields) {
    self.init(eTag: fields[.eTag], lastModified: fields[.lastModified])
  }

  var isEmpty: Bool { eTag == nil && lastModified == nil }
}
