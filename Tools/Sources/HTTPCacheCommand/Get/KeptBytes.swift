/// What is left of a transfer that failed.
enum KeptBytes: Equatable {
  /// The cache has all of it: little was left, and was fetched.
  case complete
  /// The cache has so many bytes.
  case cached(Int64)
  /// A part file has so many bytes.
  case part(Int64, String)
  /// Nothing, and why.
  case nothing(String)

  /// What follows the reason of the failure.
  ///
  /// - Parameter isEarlyEnd: whether the reason has told how many bytes came.
  func text(after progress: TransferProgress, isEarlyEnd: Bool) -> String {
    switch self {
    case .complete: return "all of it is in the cache, run again to get it"
    case .cached(let bytes): return "\(Self.amount(bytes, progress, isEarlyEnd)) kept, run again to continue"
    case .part(let bytes, let path):
      return "\(Self.amount(bytes, progress, isEarlyEnd)) kept in \(path), run again to continue"
    case .nothing(let reason): return "nothing is kept: \(reason)"
    }
  }

  private static func amount(_ bytes: Int64, _ progress: TransferProgress, _ isEarlyEnd: Bool) -> String {
    if isEarlyEnd, bytes == progress.start + progress.received { return "they are" }
    return HumanText.bytes(bytes) + (progress.length.map { " of \(HumanText.bytes($0))" } ?? "")
  }
}
