import NIOHTTP2

/// The ends of bodies on one connection over HTTP/2 that may wait in NIOHTTP2, for clients that make their windows smaller.
///
/// NIOHTTP2 sends an end without bytes although the window of its stream is negative (RFC 9113 §6.9.2), and traps. A window
/// becomes negative when the client lowers SETTINGS_INITIAL_WINDOW_SIZE. So at that moment no end may be the next thing that
/// NIOHTTP2 sends on a stream: it is only if the connection takes nothing, or if the end was not flushed. Such streams are
/// reset. From then on, an end is an empty block of trailers, for which NIOHTTP2 asks no window.
final class StreamEnds {
  /// The streams whose end was written, and whether it was flushed.
  private var streams: [HTTP2StreamID: Bool] = [:]
  /// SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2).
  private var initialWindow = 65_535
  /// Bytes that the client takes on the whole connection.
  private var connectionWindow = 65_535
  /// Whether the windows of streams may be negative.
  private(set) var hasSmallerWindows = false

  /// Notes that the end of a stream was written.
  func written(_ id: HTTP2StreamID) { streams[id] = false }

  /// Notes that a stream was flushed.
  func flushed(_ id: HTTP2StreamID) { if streams[id] != nil { streams[id] = true } }

  /// Forgets a stream that is closed.
  func closed(_ id: HTTP2StreamID) { streams[id] = nil }

  /// Notes how many bytes the client takes on the whole connection.
  func connectionTakes(_ bytes: Int) { connectionWindow = bytes }

  /// Notes SETTINGS of the client.
  ///
  /// - Parameter isWritable: whether the channel takes bytes.
  /// - Returns: the streams to reset before anything is flushed.
  func received(_ settings: HTTP2Settings, isWritable: Bool) -> [HTTP2StreamID] {
    var isLowered = false
    for setting in settings where setting.parameter == .initialWindowSize {
      isLowered = isLowered || setting.value < initialWindow
      initialWindow = setting.value
    }
    guard isLowered else { return [] }
    hasSmallerWindows = true
    let isBlocked = connectionWindow <= 0 || !isWritable
    return streams.filter { isBlocked || !$0.value }.map(\.key)
  }
}
