#if Redis
  import HTTPCaching
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  /// A connection to a server. Commands of many tasks are written as they come, and the replies come in their order
  /// (pipelining). It connects by itself; commands wait for it no longer than until their deadline.
  ///
  /// A deadline that passes closes the connection: a reply that comes later must not answer another command.
  final class RedisConnection: Sendable {
    private enum Phase {
      case connecting
      /// The credentials were written.
      case greeting(any Channel)
      case open(any Channel)
      case closed(SharedTierError)
    }

    private struct State {
      var phase = Phase.connecting
      /// Not written yet.
      var waiting: [RedisFlush] = []
      /// Written, and not answered.
      var sent = CircularBuffer<RedisFlush>()
      var decoder = RESPDecoder()
      /// The bytes of commands in both.
      var bytes = 0
      var isScheduled = false
      /// When the alarm rings that was set last.
      var alarm: NIODeadline?
    }

    private let endpoint: RedisEndpoint
    private let loop: any EventLoop
    private let state = Mutex(State())

    /// Begins to connect.
    init(to endpoint: RedisEndpoint, _ settings: RedisSettings) {
      self.endpoint = endpoint
      loop = settings.group.next()
      connect(settings)
    }

    deinit {
      switch state.withLock({ $0.phase }) {
      case .greeting(let channel), .open(let channel): channel.close(promise: nil)
      case .connecting, .closed: break
      }
    }

    /// Whether it can no longer be used.
    var isClosed: Bool {
      state.withLock { state in
        if case .closed = state.phase { true } else { false }
      }
    }

    /// Sends commands.
    ///
    /// - Returns: their replies, errors among them.
    func send(
      _ commands: [RedisCommand], by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [RESPValue] {
      let replies = OneShot<RedisFlush.Outcome>()
      let outcome = await withTaskCancellationHandler {
        if !Task.isCancelled { add(RedisFlush(commands, by: deadline) { replies.give($0) }) }
        return await replies.take()
      } onCancel: {
        // The replies still come, and are dropped.
        replies.give(.failure(SharedTierError(.unreachable, "the task was cancelled")))
      }
      return try outcome.get()
    }

    private func add(_ flush: RedisFlush) {
      let (failure, isFirst): (SharedTierError?, Bool) = state.withLock { state in
        if case .closed(let error) = state.phase { return (error, false) }
        guard state.bytes + flush.bytes.readableBytes <= RedisSettings.mostBytes else {
          return (SharedTierError(.unavailable, "\(endpoint): more than 16 MiB wait to be sent"), false)
        }
        state.bytes += flush.bytes.readableBytes
        state.waiting.append(flush)
        defer { state.isScheduled = true }
        return (nil, !state.isScheduled)
      }
      if let failure { return flush.finish(.failure(failure)) }
      if isFirst { loop.execute { self.work() } }
    }

    // MARK: Connecting

    private func connect(_ settings: RedisSettings) {
      let (host, limit) = (endpoint.host, settings.limits.connection)
      let end = NIODeadline.now() + TimeAmount(limit)
      let handler: @Sendable () -> RedisHandler = { [weak self] in RedisHandler(self) }
      ClientBootstrap(group: loop)
        .connectTimeout(TimeAmount(limit))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls = settings.tls {
              // A certificate names an address in another way than a host.
              let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
              try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
            }
            try channel.pipeline.syncOperations.addHandler(handler())
          }
        }
        .connect(host: host, port: endpoint.port)
        .whenComplete { [weak self] result in
          switch result {
          case .success(let channel):
            // A tier that is gone needs no connection.
            guard let self else { return channel.close(promise: nil) }
            self.connected(channel, settings)
          case .failure(let error):
            self?.close(.unreachable, "no connection: \(SharedTierError.reason(error))")
          }
        }
      loop.scheduleTask(deadline: end) { [weak self] in self?.connectingEnded(after: limit) }
    }

    private func connectingEnded(after limit: Duration) {
      let isLate = state.withLock { state in
        switch state.phase {
        case .connecting, .greeting: true
        case .open, .closed: false
        }
      }
      if isLate { close(.timeout, "connecting took longer than \(limit)") }
    }

    private func connected(_ channel: any Channel, _ settings: RedisSettings) {
      let greeting = settings.greeting
      let flush =
        greeting.isEmpty
        ? nil
        : RedisFlush(greeting, by: RedisDeadline(settings.limits.connection)) { [weak self] in
          self?.greeted($0, asked: greeting)
        }
      let isWanted = state.withLock { state in
        guard case .connecting = state.phase else { return false }
        state.phase = flush == nil ? .open(channel) : .greeting(channel)
        if let flush {
          state.bytes += flush.bytes.readableBytes
          state.sent.append(flush)
        }
        return true
      }
      guard isWanted else { return channel.close(promise: nil) }
      if let flush { channel.writeAndFlush(flush.bytes, promise: nil) }
      work()
    }

    private func greeted(_ outcome: RedisFlush.Outcome, asked greeting: [RedisCommand]) {
      guard case .success(let replies) = outcome else { return }
      for (command, reply) in zip(greeting, replies) {
        guard case .error(let text) = reply else { continue }
        // The rest of the text may repeat the arguments, and one of them is the password.
        let code = text.prefix(32).prefix { $0.isASCII && $0.isUppercase }
        let name = String(decoding: command.first?.bytes ?? [], as: UTF8.self)
        return close(
          SharedTierError(reply: text)?.kind ?? .protocol, "\(name) was answered with the error \(code)")
      }
      state.withLock { state in
        if case .greeting(let channel) = state.phase { state.phase = .open(channel) }
      }
      work()
    }

    // MARK: Sending and receiving, on the event loop

    /// Writes what waits, and sets the alarm.
    private func work() {
      var written: [ByteBuffer] = []
      var alarm: NIODeadline?
      let channel: (any Channel)? = state.withLock { state in
        state.isScheduled = false
        alarm = Self.newAlarm(&state, state.waiting.lazy.map(\.next).min())
        guard case .open(let channel) = state.phase else { return nil }
        written = state.waiting.map(\.bytes)
        state.sent.append(contentsOf: state.waiting)
        state.waiting.removeAll(keepingCapacity: true)
        return channel
      }
      if let alarm { set(alarm) }
      guard let channel, !written.isEmpty else { return }
      for bytes in written { channel.write(bytes, promise: nil) }
      channel.flush()
    }

    /// Takes bytes of the server.
    func received(_ bytes: ByteBuffer) {
      var finished: [RedisFlush] = []
      let failure: String? = state.withLock { state in
        var replies: [RESPValue] = []
        let failure: RESPFailure? = bytes.withUnsafeReadableBytes { bytes in
          do throws(RESPFailure) {
            try state.decoder.decode(bytes) { replies.append($0) }
            return nil
          } catch {
            return error
          }
        }
        for reply in replies {
          guard !state.sent.isEmpty else { return "a reply that nothing asked for" }
          guard state.sent[state.sent.startIndex].add(reply) else { continue }
          let flush = state.sent.removeFirst()
          state.bytes -= flush.bytes.readableBytes
          finished.append(flush)
        }
        var index = state.sent.startIndex
        while index != state.sent.endIndex {
          if state.sent[index].deadline.progress != nil { state.sent[index].progressed() }
          state.sent.formIndex(after: &index)
        }
        return failure?.message
      }
      for flush in finished { flush.finish(.success(flush.replies)) }
      if let failure { close(.protocol, failure) }
    }

    /// The moment to set the alarm to; nil if it rings early enough.
    ///
    /// - Parameter next: the earliest moment at which commands fail.
    private static func newAlarm(_ state: inout State, _ next: NIODeadline?) -> NIODeadline? {
      guard let next, state.alarm.map({ next < $0 }) ?? true else { return nil }
      state.alarm = next
      return next
    }

    private func set(_ alarm: NIODeadline) {
      loop.scheduleTask(deadline: alarm) { [weak self] in self?.ring(alarm) }
    }

    private func ring(_ alarm: NIODeadline) {
      let now = NIODeadline.now()
      var overdue: [RedisFlush] = []
      var next: NIODeadline?
      let isLate = state.withLock { state in
        guard state.alarm == alarm else { return false }
        state.alarm = nil
        if state.sent.contains(where: { $0.next <= now }) { return true }
        overdue = state.waiting.filter { $0.next <= now }
        state.waiting.removeAll { $0.next <= now }
        state.bytes -= overdue.reduce(0) { $0 + $1.bytes.readableBytes }
        next = Self.newAlarm(&state, (state.waiting.map(\.next) + state.sent.map(\.next)).min())
        return false
      }
      if isLate { return close(.timeout, "no reply within the deadline") }
      for flush in overdue { flush.finish(.failure(error(.timeout, "no connection within the deadline"))) }
      if let next { set(next) }
    }

    // MARK: Closing

    /// Closes the connection, and fails what was not answered.
    func close(_ kind: SharedTierError.Kind, _ message: String) {
      let failure = error(kind, message)
      var channel: (any Channel)?
      var wasOpen = false
      let flushes: [RedisFlush] = state.withLock { state in
        switch state.phase {
        case .closed: return []
        case .connecting: break
        case .greeting(let open): channel = open
        case .open(let open): (channel, wasOpen) = (open, true)
        }
        // A server that refused this connection would refuse the next one.
        state.phase = .closed(
          error(kind == .refused ? .refused : .unreachable, "the connection was closed: \(message)"))
        defer {
          state.sent.removeAll()
          state.waiting.removeAll()
          state.bytes = 0
        }
        return Array(state.sent) + state.waiting
      }
      channel?.close(promise: nil)
      let now = NIODeadline.now()
      for flush in flushes {
        // Commands that had time left did not time out, and on an open connection the server can be reached.
        let isInnocent = kind == .timeout && flush.next > now
        flush.finish(
          .failure(isInnocent ? error(wasOpen ? .unavailable : .unreachable, message) : failure))
      }
    }

    private func error(_ kind: SharedTierError.Kind, _ message: String) -> SharedTierError {
      SharedTierError(kind, "\(endpoint): \(SharedTierError.cleaned(message))")
    }
  }
#endif
