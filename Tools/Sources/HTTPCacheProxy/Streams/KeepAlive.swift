import HTTPCacheLibC
import NIOCore

/// Keep-alives of TCP (RFC 9293 §3.8.4): the system asks a silent peer whether it is there, and ends the connection if it
/// is not. So a silent tunnel or event stream lasts as long as its peers, and one of a client that is gone does not.
enum KeepAlive {
  /// Seconds of silence before the first question.
  static let idle: ChannelOptions.Types.SocketOption.Value = 60
  /// Seconds between questions.
  static let interval: ChannelOptions.Types.SocketOption.Value = 20
  /// The number of questions without an answer that end the connection.
  static let count: ChannelOptions.Types.SocketOption.Value = 4

  /// Begins to ask the peer of a connection.
  static func enable(on channel: any Channel) {
    #if canImport(Darwin)
      let idleOption = TCP_KEEPALIVE
    #else
      let idleOption = TCP_KEEPIDLE
    #endif
    // Not every channel is a socket, and not every system has each option.
    channel.setOption(.socketOption(.so_keepalive), value: 1).whenFailure { _ in }
    for (name, value) in [(idleOption, idle), (TCP_KEEPINTVL, interval), (TCP_KEEPCNT, count)] {
      channel.setOption(.tcpOption(.init(rawValue: name)), value: value).whenFailure { _ in }
    }
  }
}
