/// How slowly the body of a validation in the background may come. No client waits for it, so that a body that drips would
/// keep its place among the tasks in the background for ever.
enum BackgroundPace {
  /// The time for each body.
  private static let patience = Duration.seconds(600)
  /// The bytes for each further second.
  private static let bytesPerSecond: Int64 = 16 << 10

  /// Whether a body is too slow.
  ///
  /// - Parameters:
  ///   - received: the bytes that have come.
  ///   - time: the time since its head came.
  static func isTooSlow(_ received: Int64, after time: Duration) -> Bool {
    time > patience + .seconds(received / bytesPerSecond)
  }
}
