/// The bytes that are kept of a failed transfer.
enum KeptBytes: Equatable {
  /// The cache has the whole body: little was missing, and was fetched.
  case complete
  /// Number of bytes in the cache.
  case cached(Int64)
  /// Number of bytes in a part file.
  case part(Int64, String)
  /// No bytes are kept, and why.
  case nothing(String)

  /// The text after the reason of the failure.
  ///
  /// - Parameter isEarlyEnd: whether the reason already has the number of received bytes.
  func text(after progress: TransferProgress, isEarlyEnd: Bool) -> String {
    func amount(_ bytes: Int64) -> String {
      if isEarlyEnd, bytes == progress.start + progress.received { return "they are" }
      return HumanText.bytes(bytes) + (progress.length.map { " of \(HumanText.bytes($0))" } ?? "")
    }
    switch self {
    case .complete: return "all of it is in the cache, run again to get it"
    case .cached(let bytes): return "\(amount(bytes)) kept, run again to continue"
    case .part(let bytes, let path):
      return "\(amount(bytes)) kept in \(path), run again to continue"
    case .nothing(let reason): return "nothing is kept: \(reason)"
    }
  }
}
