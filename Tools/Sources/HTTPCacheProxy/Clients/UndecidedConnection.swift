import NIOCore

/// The connection of a client that has not chosen a protocol yet.
final class UndecidedConnection: RegisteredConnection {
  private let channel: any Channel

  init(_ channel: any Channel) { self.channel = channel }

  var isBusy: Bool { false }

  func closeWritten(within patience: TimeAmount) async { reset() }

  func reset() { channel.close(promise: nil) }
}
