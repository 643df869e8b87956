import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  /// Maximum number of unsent bytes that the system buffers for a connection (TCP_NOTSENT_LOWAT).
  ///
  /// Without this option the system buffers some MiB, and takes no more until a third of them is sent. A client that
  /// steadily reads 16 KiB/s would seem to take no byte for more than a minute.
  static var unsentLimit: Self { .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)) }
}
