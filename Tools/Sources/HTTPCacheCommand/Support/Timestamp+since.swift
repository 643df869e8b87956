import HTTPCaching

extension Timestamp {
  /// The seconds since an earlier time; a time of a damaged index may be any number.
  func seconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = seconds.subtractingReportingOverflow(earlier.seconds)
    guard overflow else { return difference }
    return earlier.seconds < 0 ? .max : .min
  }
}
