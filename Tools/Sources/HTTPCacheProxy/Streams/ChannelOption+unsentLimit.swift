import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  /// The most bytes that the system takes of a connection before it has sent them (TCP_NOTSENT_LOWAT).
  ///
  /// Without, the system takes some MiB, and takes nothing more until a third of them is sent: a client that steadily
  /// reads 16 KiB/s would seem to take nothing for more than a minute.
  static var unsentLimit: Self { .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)) }
}
