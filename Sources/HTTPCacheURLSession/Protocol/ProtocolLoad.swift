import HTTPCaching
import HTTPTypes
import Synchronization

/// One request of a session, answered by the cache.
final class ProtocolLoad: Sendable {
  /// The number of bytes that a delegate may be behind.
  private static let delegateWindow = 1 << 20
  /// Extra time, so that the upstream's own timeout comes first and a stale response may answer.
  private static let grace: Duration = .seconds(1)

  private let request: URLRequest
  private let loading: CachedLoading
  private let limits: TransferLimits
  private let surroundings: TaskSurroundings
  private let client: LoadClient
  private let state = LoadState()
  /// Since when the load waits for the cache; nil while it waits for the delegate, or until the task is resumed.
  private let waitingSince = Mutex<Duration?>(nil)

  /// - Parameter settings: the current settings of the session's configuration.
  init(
    _ request: URLRequest, loading: CachedLoading, settings: LoadSettings,
    surroundings: TaskSurroundings, client: LoadClient
  ) {
    self.request = settings.applied(to: request)
    self.loading = loading
    self.surroundings = surroundings
    self.client = client
    limits = TransferLimits(idle: self.request.timeoutInterval, whole: settings.resourceTimeout)
  }

  /// Starts, or continues after `suspend`.
  func resume() {
    guard state.resume() else { return }
    // Foundation does not time out custom protocols.
    let watch = SystemClock().watch { [weak self] in
      self?.timeLeft()
    } late: { [weak self] in
      self?.end(with: URLError.make(.timedOut, "no progress in time", url: self?.request.url))
    }
    state.began(
      Task {
        await self.run()
        watch.cancel()
      })
  }

  /// Delivers nothing until `resume`. A running request to the origin is not repeated.
  func suspend() { state.suspend() }

  /// Cancels the load; the client gets no more calls.
  func cancel() { _ = state.end() }

  private func end(with error: URLError) {
    guard state.end() != .ended else { return }
    client.perform { if let (client, loader) = $0 { client.urlProtocol(loader, didFailWithError: error) } }
  }

  private func run() async {
    do {
      let body = try RequestBody(request)
      noteWaiting()
      switch surroundings.delivery {
      case .pieces: try await deliverPieces(body)
      case .whole: try await deliverWhole(body)
      }
    } catch {
      end(with: URLError.make(error, url: request.url))
    }
  }

  private func deliverPieces(_ body: RequestBody) async throws {
    let loaded = try await loading.session.load(
      request, content: body, options: LoadOptions(), delegate: surroundings.delegate)
    defer { loaded.body.source.cancel() }
    let response = try loaded.forClient()
    try await tell { $0.urlProtocol($1, didReceive: response, cacheStoragePolicy: .notAllowed) }
    var untaken = 0
    while let bytes = try await next(loaded.body) {
      let data = Data(bytes)
      try await tell { $0.urlProtocol($1, didLoad: data) }
      untaken += data.count
      if untaken >= Self.delegateWindow {
        await surroundings.delegateCaughtUp()
        untaken = 0
      }
    }
    try await tell(last: true) { $0.urlProtocolDidFinishLoading($1) }
  }

  private func deliverWhole(_ body: RequestBody) async throws {
    let (response, data) = try await loading.session.reading(
      request, content: body, options: LoadOptions(), delegate: surroundings.delegate
    ) { loaded in
      let data = try await collect(loaded.body)
      return (try loaded.forClient(), data)
    }
    try await tell(last: true) { client, loader in
      client.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
      if !data.isEmpty { client.urlProtocol(loader, didLoad: data) }
      client.urlProtocolDidFinishLoading(loader)
    }
  }

  private func collect(_ body: MessageBody) async throws -> Data {
    defer { body.source.cancel() }
    var data = Data()
    let limit = loading.bodyLimit
    if let length = body.length {
      guard length <= limit else { throw URLError.tooLong(limit: limit, url: request.url) }
      data.reserveCapacity(Int(min(length, 16 << 20)))
    }
    while let bytes = try await next(body) {
      guard data.count + bytes.count <= limit else {
        throw URLError.tooLong(limit: limit, url: request.url)
      }
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    return data
  }

  private func next(_ body: MessageBody) async throws -> BodyBytes? {
    try await untilRunning()
    noteWaiting()
    return try await body.source.next()
  }

  /// Calls the client, once the task is not suspended.
  private func tell(
    last: Bool = false, _ call: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void
  ) async throws {
    while true {
      try await untilRunning()
      let isTold = await withCheckedContinuation { continuation in
        client.perform { target in
          // Checked where the task is suspended and cancelled, too, so that neither happens in between.
          guard self.state.phase == .running else { return continuation.resume(returning: false) }
          if last { _ = self.state.end() }
          if let (client, loader) = target { call(client, loader) }
          continuation.resume(returning: true)
        }
      }
      if isTold { return }
    }
  }

  // MARK: Time

  /// Waits while the task is suspended. Neither this time nor what the delegate needs afterwards counts.
  private func untilRunning() async throws {
    waitingSince.withLock { $0 = nil }
    try await state.untilRunning()
  }

  private func noteWaiting() { waitingSince.withLock { $0 = SystemClock().uptime } }

  /// The time until the load is late; nil once it has ended.
  private func timeLeft() -> Duration? {
    let phase = state.phase
    if phase == .ended { return nil }
    let now = SystemClock().uptime
    let waited = waitingSince.withLock { since in
      if phase == .suspended, since != nil { since = now }
      return since.map { now - $0 } ?? .zero
    }
    let whole = limits.deadline - now
    // A suspended load is not late: look again after a second.
    return min(limits.idle + Self.grace - waited, phase == .suspended ? max(whole, .seconds(1)) : whole)
  }
}

extension LoadedResponse {
  /// The response as a protocol's client can take it. On Linux `WWW-Authenticate` is renamed
  /// `X-WWW-Authenticate`: otherwise Foundation would ask for credentials again, and never end a task without
  /// credentials.
  fileprivate func forClient() throws -> URLResponse {
    #if canImport(FoundationNetworking)
      guard let cached, cached.head.status == .unauthorized, let url = response.url else {
        return response
      }
      var fields = cached.head.headerFields.dictionary
      for name in fields.keys where name.lowercased() == "www-authenticate" {
        fields["X-WWW-Authenticate"] = fields.removeValue(forKey: name)
      }
      guard let renamed = CachedHTTPURLResponse(cached, url: url, fields: fields) else {
        throw URLError.make(.badServerResponse, "no response for Foundation", url: url)
      }
      return renamed
    #else
      return response
    #endif
  }
}
