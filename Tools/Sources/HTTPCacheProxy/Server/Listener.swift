import NIOCore
import Synchronization

/// A listening socket that is opened again, with its address, after NIO has closed it.
///
/// NIO closes a listening socket after an error of `accept` that it does not know, such as the refusal of a security
/// policy: the process would live on, and no client could connect.
final class Listener: Sendable {
  private struct State {
    var channel: any Channel
    /// How often in a row the socket could not be opened again.
    var failures = 0
    var retry: Scheduled<Void>?
    var hasEnded = false
  }

  private static let firstPause = TimeAmount.milliseconds(200)
  private static let longestPause = TimeAmount.seconds(10)

  /// Where it listens.
  let address: SocketAddress
  /// The event loop that accepts.
  let eventLoop: any EventLoop
  private let notices: AcceptGate.Notices
  private let bind: @Sendable (SocketAddress) -> EventLoopFuture<any Channel>
  private let state: Mutex<State>

  /// Watches a socket that listens.
  ///
  /// - Parameter bind: opens another one with its address.
  /// - Throws: `ChannelError` if the socket has no address.
  init(
    _ channel: any Channel, _ notices: AcceptGate.Notices,
    bind: @escaping @Sendable (SocketAddress) -> EventLoopFuture<any Channel>
  ) throws {
    guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
    self.address = address
    eventLoop = channel.eventLoop
    self.notices = notices
    self.bind = bind
    state = Mutex(State(channel: channel))
    watch(channel)
  }

  /// The socket that was opened last.
  var channel: any Channel { state.withLock { $0.channel } }

  /// Ends listening.
  func close() async {
    let (channel, retry) = state.withLock { state in
      state.hasEnded = true
      return (state.channel, state.retry)
    }
    retry?.cancel()
    try? await channel.close()
  }

  private func watch(_ channel: any Channel) {
    channel.closeFuture.whenComplete { _ in self.openLater() }
  }

  private func openLater() {
    state.withLock { state in
      guard !state.hasEnded else { return }
      let pause = Self.firstPause * (1 << min(state.failures, 6))
      state.retry = eventLoop.scheduleTask(in: min(pause, Self.longestPause)) { self.openAgain() }
    }
  }

  private func openAgain() {
    bind(address).whenComplete { result in
      switch result {
      case .success(let channel): self.opened(channel)
      case .failure(let error): self.failed(error)
      }
    }
  }

  private func opened(_ channel: any Channel) {
    let hasEnded = state.withLock { state in
      state.failures = 0
      if !state.hasEnded { state.channel = channel }
      return state.hasEnded
    }
    // The server has ended while the socket was being opened.
    if hasEnded { return channel.close(promise: nil) }
    watch(channel)
  }

  private func failed(_ error: any Error) {
    state.withLock { $0.failures += 1 }
    let place = Authority(host: address.ipAddress ?? "", port: address.port).text(defaultPort: 0)
    let reason = (error as? IOError).map { SystemMessage.text($0.errnoCode) } ?? "\(error)"
    notices.paused("cannot listen on \(place) again: \(reason)")
    openLater()
  }
}
