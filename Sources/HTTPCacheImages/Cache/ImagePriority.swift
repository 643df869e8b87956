/// The order in which downloads and decodings begin.
public enum ImagePriority: Int, Sendable, Comparable, CaseIterable {
  /// For images that are not shown yet; what `prefetch` uses.
  case low
  /// For images that are shown.
  case normal
  /// For images that come before all others.
  case high

  /// Compares by urgency.
  public static func < (lhs: ImagePriority, rhs: ImagePriority) -> Bool { lhs.rawValue < rhs.rawValue }

  var taskPriority: TaskPriority {
    switch self {
    case .low: .utility
    case .normal: .medium
    case .high: .high
    }
  }
}
