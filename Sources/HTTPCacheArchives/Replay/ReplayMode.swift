/// How a `ReplayUpstream` treats requests.
public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
  /// Recorded requests are answered from the recording; any other fails.
  case replay
  /// Recorded requests are answered from the recording; any other goes to the origin, and is not recorded.
  case replayElseForward
  /// Recorded requests are answered from the recording; any other goes to the origin and is added to the recording.
  case recordMissing
  /// Every request goes to the origin; the recording is replaced.
  case recordAll

  /// Whether requests go to the origin.
  var usesOrigin: Bool { self != .replay }
}
