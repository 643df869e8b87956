import NIOCore

/// The connection of a client that speaks HTTP/2, for the registry: its streams are served each for itself.
final class HTTP2Connection: RegisteredConnection {
  private let channel: any Channel

  init(_ channel: any Channel) { self.channel = channel }

  /// Never: the connection is told to end at once, and lets its streams finish by itself.
  var isBusy: Bool { false }

  /// Tells the client that no more streams are served (GOAWAY); the connection closes after the last one.
  func closeWritten(within patience: TimeAmount) async {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    try? await channel.closeFuture.get()
  }

  func reset() { channel.close(promise: nil) }
}
