import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// Serves one client's connection: one request after the other, responses in order (RFC 9112 §9.3.2).
final class ClientConnection: Sendable {
  /// Maximum time to answer requests that have arrived already, before other connections get their turn.
  private static let longestTurn = TimeAmount.milliseconds(2)

  let stream: ByteStream
  let context: ProxyContext
  let client: ClientSide
  /// Whether the stream is one of HTTP/2, with one request, instead of a connection.
  let isHTTP2: Bool
  let requestTrailers = StreamTrailers()
  let log: RequestLog
  /// The next request, if the fast path has looked at it.
  private let judged = Mutex<(request: JudgedRequest, length: Int)?>(nil)

  /// - Parameters:
  ///   - client: the client of a stream's connection.
  ///   - isHTTP2: see `isHTTP2`.
  init(_ stream: ByteStream, context: ProxyContext, client: ClientSide, isHTTP2: Bool) {
    self.isHTTP2 = isHTTP2
    self.stream = stream
    self.context = context
    self.client = client
    log = RequestLog(context, client: client, isHTTP2: isHTTP2, loop: stream.channel.eventLoop)
  }

  /// The routes as they are now: they may be changed while the connection lasts.
  var routing: Routing { Routing(mode: context.mode, via: context.via, client: client) }

  /// The bytes that the stream gets next begin with a request that is known already.
  ///
  /// - Parameter length: the number of bytes of its head.
  func takesNext(_ request: JudgedRequest, length: Int) { judged.withLock { $0 = (request, length) } }

  /// Begins to serve the connection, on its event loop.
  func start() {
    context.registry.serve(stream.channel, by: stream)
    awaitRequest()
  }

  /// Waits for the first byte of a request, for the end of the connection, or until the client is idle for too long.
  /// No task waits: its stack would be half the memory of an idle connection.
  private func awaitRequest() {
    let idle = context.configuration.idleTimeout
    stream.awaitRequest(idle: idle)
    if !stream.watch(until: stream.now + idle, serve) { serve() }
  }

  /// Serves the requests that have arrived, in a task.
  @Sendable private func serve() {
    let task = Task(executorPreference: EventLoopExecutor(stream.channel.eventLoop)) {
      let mayContinue = await self.answerRequests()
      // A hook that keeps a task keeps its stack, which is most of the memory of an idle connection.
      self.stream.onClose(nil)
      if mayContinue { return self.awaitRequest() }
      self.context.registry.remove(self.stream.channel)
    }
    stream.onClose { task.cancel() }
  }

  /// Ends a connection that waits for a request, after what was written.
  func end(silence: SilenceLimits) {
    // The end of the server lets it finish.
    _ = context.registry.begin(stream)
    stream.endWait()
    Task(executorPreference: EventLoopExecutor(stream.channel.eventLoop)) {
      await self.closeLingering(silence)
      self.context.registry.remove(self.stream.channel)
    }
  }

  /// Begins to serve the one request of a stream of HTTP/2.
  func startStream(_ head: Result<RequestHead, any Error>) {
    let task = Task(executorPreference: EventLoopExecutor(stream.channel.eventLoop)) {
      var (end, silence) = (End.close, SilenceLimits())
      do {
        end = await self.answer(try head.get(), nil, &silence)
      } catch {
        await self.refuse(Refusal((error as? ProtocolViolation) ?? ProtocolViolation("\(error)")), to: nil)
      }
      guard end != .gone else { return }
      if !self.stream.isEnded { self.stream.write(.restIsNotNeeded) }
      self.stream.channel.flush()
      self.limitRest(silence)
    }
    stream.onClose { task.cancel() }
  }

  /// Resets a stream whose client does not take the rest of the response.
  private func limitRest(_ silence: SilenceLimits) {
    let channel = stream.channel
    let timer = channel.eventLoop.scheduleTask(in: clientSilence(silence)) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
  }

  /// Answers a connection that the registry has refused, and closes it.
  func turnAway(_ refusal: Refusal) {
    Task(executorPreference: EventLoopExecutor(stream.channel.eventLoop)) {
      await self.refuse(refusal, to: nil)
      await self.stream.closeLingering(within: .seconds(1))
      self.context.registry.endRefusal()
    }
  }

  /// Answers the requests that have arrived, and closes the connection if it has ended, or no byte came in time.
  ///
  /// - Returns: whether the connection may wait for another request.
  private func answerRequests() async -> Bool {
    let reader = MessageReader(stream: stream, limits: context.configuration.limits, form: .request)
    let turns = context.turns(of: stream.channel.eventLoop)
    var turnEnd: NIODeadline?
    var hasTurn = false
    // The limits of the last answer, whose rest may wait for the client.
    var silence = SilenceLimits()
    while stream.hasBytes {
      do {
        // A client that sends one request at a time never waits for those that send many.
        if let turns, let end = turnEnd, end < stream.now || (!hasTurn && turns.isBusy) {
          await turns.next()
          (turnEnd, hasTurn) = (nil, true)
        }
        turnEnd = turnEnd ?? stream.now + Self.longestTurn
        let head: RequestHead
        var route: Route?
        if let known = judged.withLock({ $0.take() }), stream.take(Int64(known.length)) != nil {
          guard context.registry.begin(stream) else { break }
          (head, route) = (known.request.head, known.request.route)
        } else if let next = try await reader.requestHead(
          within: context.configuration.headTimeout, began: { context.registry.begin(stream) })
        {
          head = next
        } else {
          break
        }
        var end = await answer(head, route, &silence)
        // The bytes after a refused CONNECT were meant for the tunnel: they are not a request.
        if head.method == .connect, end == .next { end = .close }
        guard end == .next, context.registry.end(stream) else {
          if end == .close || end == .next { await closeLingering(silence) }
          return false
        }
        if !stream.hasBytes, !stream.isEnded { return true }
      } catch let violation as ProtocolViolation {
        await refuse(Refusal(violation), to: nil)
        await closeLingering(silence)
        return false
      } catch StreamError.timedOut {
        // RFC 9110 §15.5.9.
        await refuse(Refusal(.requestTimeout, "the request did not arrive in time", closes: true), to: nil)
        await closeLingering(silence)
        return false
      } catch {
        break
      }
    }
    await stream.closeWritten(within: clientSilence(silence))
    return false
  }

  private func closeLingering(_ silence: SilenceLimits) async {
    await stream.closeLingering(within: clientSilence(silence))
  }

  private func clientSilence(_ silence: SilenceLimits) -> TimeAmount {
    silence.client ?? context.configuration.bodyTimeout
  }

  /// The state of the connection after a request.
  enum End: Sendable {
    case next
    case close
    /// The connection is closed, or reset.
    case gone
  }

  /// - Parameters:
  ///   - known: the route of the request, if it is known already.
  ///   - silence: is set to the limits of the request's route.
  private func answer(
    _ head: RequestHead, _ known: Route?, _ silence: inout SilenceLimits
  ) async -> End {
    let started = NIODeadline.now()
    silence = SilenceLimits()
    if Task.isCancelled { return leave(head, started: started) }
    do {
      // Streams of HTTP/2 are counted before they have a channel (`HTTP2RequestHandler`).
      let counted = try isHTTP2 ? nil : context.registry.beginExchange(of: client, head.fields)
      defer { if let counted { context.registry.end(counted) } }
      let framing = try head.framing()
      if let rights = context.configuration.purgeRights, let kind = PurgeRequest.Kind(head.method) {
        try rights.check(client, head.fields)
        let request = try PurgeRequest(kind, head: head, framing: framing, routing: routing)
        return await purge(request, head: head, framing: framing, started: started)
      }
      let route = try known ?? routing.route(head, framing: framing)
      silence = route.silence
      let exchange = ClientExchange(
        connection: self, head: head, framing: framing, started: started, silence: silence)
      switch route {
      case .cached(let request): return await exchange.answerFromCache(request)
      case .direct(let request): return await exchange.answerDirectly(request)
      case .upgrade(let request, let protocols): return await exchange.upgrade(request, to: protocols)
      case .tunnel(let origin): return await exchange.tunnel(to: origin)
      case .last: return await exchange.answerAsLast()
      }
    } catch let refusal as Refusal {
      // The request's body is not read: the connection can continue only if there is none.
      await refuse(refusal, to: head, started: started)
      let isDone = (try? head.framing()) == Framing.none
      return refusal.closes || !isDone || !head.isPersistent ? .close : .next
    } catch let violation as ProtocolViolation {
      await refuse(Refusal(violation), to: head, started: started)
      return .close
    } catch {
      return .close
    }
  }

  /// Notes a request whose client is gone.
  func leave(_ head: RequestHead, started: NIODeadline) -> End {
    log.add(head, status: 499, bytes: 0, started: started, outcome: RequestOutcome.cancelled.rawValue)
    stream.close()
    return .gone
  }

  private func purge(
    _ request: PurgeRequest, head: RequestHead, framing: Framing, started: NIODeadline
  ) async -> End {
    do throws(CacheError) {
      let report = try await PurgeReport.purge(
        request.selections, isSoft: request.isSoft, from: context.cache)
      context.configuration.logger.notice(
        "\(client.requestText(of: head)) by \(client.text ?? "-"): \(report.json)")
      await answer(
        HTTPResponse(
          status: .init(code: report.status), headerFields: [.contentType: "application/json"]),
        "\(report.json)\n", to: head, started: started)
    } catch {
      await refuse(
        Refusal(.serviceUnavailable, "the cache failed: \(error)", label: .purge), to: head, started: started)
    }
    return framing != .none || !head.isPersistent ? .close : .next
  }

  /// Sends a refusal.
  func refuse(_ refusal: Refusal, to head: RequestHead?, started: NIODeadline = .now()) async {
    var response = HTTPResponse(status: refusal.status, headerFields: refusal.fields)
    response.headerFields[.contentType] = "text/plain; charset=utf-8"
    await answer(response, refusal.text, to: head, started: started, refusal: refusal)
  }

  /// Sends a response that the proxy makes itself.
  ///
  /// - Parameter refusal: the refusal that it tells of; nil after a purge.
  private func answer(
    _ response: HTTPResponse, _ text: String, to head: RequestHead?, started: NIODeadline,
    refusal: Refusal? = nil
  ) async {
    var response = response
    response.headerFields[.date] = SystemClock().now.httpDate
    let hasBody = (try? head?.framing()) ?? Framing.none != Framing.none
    let mayPersist =
      refusal?.closes != true && !hasBody && head?.isPersistent == true && head?.method != .connect
    let persists = mayPersist && !context.registry.isDraining
    let writer = writer(head?.method ?? .get, minorVersion: head?.minorVersion ?? 1)
    let result = try? await writer.send(
      response, MessageBody(BodyBytes(Array(text.utf8))), persists: persists)
    log.add(
      head, status: response.status.code, bytes: result?.bytes ?? 0, started: started,
      outcome: (refusal?.label ?? .purge).rawValue, reason: .refused(refusal?.message))
  }

  /// - Parameter timeout: maximum time for the client to take a piece; nil is the server's.
  func writer(
    _ method: HTTPRequest.Method, minorVersion: Int, timeout: TimeAmount? = nil
  ) -> ResponseWriter {
    ResponseWriter(
      stream: stream, method: method, form: isHTTP2 ? .http2 : .http1(minorVersion: minorVersion),
      sendsFiles: !client.isSecure && !isHTTP2, timeout: timeout ?? context.configuration.bodyTimeout)
  }
}
