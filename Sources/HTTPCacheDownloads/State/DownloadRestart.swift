/// Why a download began again at its first byte.
public enum DownloadRestart: String, Sendable, Hashable, CaseIterable {
  /// The representation has another ETag, Last-Modified or length than before.
  case changed
  /// The origin sent the whole representation instead of the missing range.
  case rangeIgnored
  /// The cache no longer has the bytes, or never kept them.
  case notKept
}
