import HTTPCaching
import HTTPTypes

/// One request of a session, answered by the cache.
final class ProtocolLoad: Sendable {
  /// The number of bytes that a delegate may be behind.
  private static let delegateWindow = 1 << 20

  private let request: URLRequest
  private let loading: CachedLoading
  private let settings: LoadSettings
  private let surroundings: TaskSurroundings
  private let client: LoadClient
  private let state = LoadState()

  /// - Parameter settings: the current settings of the session's configuration.
  init(
    _ request: URLRequest, loading: CachedLoading, settings: LoadSettings,
    surroundings: TaskSurroundings, client: LoadClient
  ) {
    self.request = settings.applied(to: request)
    self.loading = loading
    self.settings = settings
    self.surroundings = surroundings
    self.client = client
  }

  /// Starts, or continues after `suspend`.
  func resume() {
    guard state.resume() else { return }
    let watch = LoadWatch(idle: request.timeoutInterval, total: settings.resourceTimeout)
    state.began(Task { await self.run(watch) })
    watch.start(isPaused: { [state] in state.phase == .suspended }) { [weak self] in
      self?.end(with: URLError.make(.timedOut, "no progress in time", url: self?.request.url))
    }
  }

  /// Delivers nothing until `resume`. A running request to the origin is not repeated.
  func suspend() { state.suspend() }

  /// Cancels the load; the client gets no more calls.
  func cancel() { _ = state.end() }

  private func end(with error: URLError) {
    guard state.end() != .ended else { return }
    client.perform { $0?.fail(error) }
  }

  private func run(_ watch: LoadWatch) async {
    defer { watch.end() }
    do {
      let body = try RequestBody(request)
      switch surroundings.delivery {
      case .pieces: try await deliverPieces(try await load(body, watch), watch)
      case .whole: try await deliverWhole(body, watch)
      }
    } catch {
      end(with: URLError.make(error, url: request.url))
    }
  }

  private func load(
    _ body: RequestBody, _ watch: LoadWatch, policy: CachePolicy? = nil
  ) async throws -> LoadedResponse {
    try await watch.waiting {
      try await self.loading.session.load(
        self.request, content: body, options: LoadOptions(cachePolicy: policy),
        delegate: self.surroundings.delegate)
    }
  }

  private func deliverPieces(_ loaded: LoadedResponse, _ watch: LoadWatch) async throws {
    defer { loaded.body.source.cancel() }
    let response = try loaded.forClient()
    try await tell { $0.receive(response) }
    var untaken = 0
    while let bytes = try await next(loaded.body, watch) {
      let data = Data(bytes)
      try await tell { $0.load(data) }
      untaken += data.count
      if untaken >= Self.delegateWindow {
        await surroundings.delegateCaughtUp()
        untaken = 0
      }
    }
    try await tell(last: true) { $0.finish() }
  }

  private func deliverWhole(_ body: RequestBody, _ watch: LoadWatch) async throws {
    var loaded = try await load(body, watch)
    let data: Data
    do {
      data = try await collect(loaded.body, watch)
    } catch is CacheError where loaded.isFromStore && body.isRepeatable {
      // The stored body is damaged.
      let again = try loading.session.policy(afterDamage: nil, request)
      loaded = try await load(body, watch, policy: again)
      data = try await collect(loaded.body, watch)
    }
    let response = try loaded.forClient()
    try await tell(last: true) { client in
      client.receive(response)
      if !data.isEmpty { client.load(data) }
      client.finish()
    }
  }

  private func collect(_ body: MessageBody, _ watch: LoadWatch) async throws -> Data {
    defer { body.source.cancel() }
    var data = Data()
    let limit = loading.bodyLimit
    if let length = body.length {
      guard length <= limit else { throw URLError.tooLong(limit: limit, url: request.url) }
      data.reserveCapacity(Int(min(length, 16 << 20)))
    }
    while let bytes = try await next(body, watch) {
      guard data.count + bytes.count <= limit else {
        throw URLError.tooLong(limit: limit, url: request.url)
      }
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    return data
  }

  private func next(_ body: MessageBody, _ watch: LoadWatch) async throws -> BodyBytes? {
    try await state.untilRunning()
    return try await watch.waiting { try await body.source.next() }
  }

  /// Calls the client, once the task is not suspended.
  private func tell(
    last: Bool = false, _ call: @escaping @Sendable (LoadClient.Calls) -> Void
  ) async throws {
    while true {
      try await state.untilRunning()
      let isTold = await withCheckedContinuation { continuation in
        client.perform { calls in
          // Checked where the task is suspended and cancelled, too, so that neither happens in between.
          guard self.state.phase == .running else { return continuation.resume(returning: false) }
          if last { _ = self.state.end() }
          if let calls { call(calls) }
          continuation.resume(returning: true)
        }
      }
      if isTold { return }
    }
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
