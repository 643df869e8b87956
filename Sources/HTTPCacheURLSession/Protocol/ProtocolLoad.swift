import Foundation
import HTTPCaching
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request of a session, answered by the cache.
final class ProtocolLoad: Sendable {
  /// Bytes that a delegate may be behind.
  private static let delegateWindow = 1 << 20

  private let request: URLRequest
  private let loading: CachedLoading
  private let settings: LoadSettings
  private let surroundings: TaskSurroundings
  private let client: LoadClient
  private let state = LoadState()

  init(
    _ request: URLRequest, loading: CachedLoading, settings: LoadSettings,
    surroundings: TaskSurroundings, client: LoadClient
  ) {
    self.request = request
    self.loading = loading
    self.settings = settings
    self.surroundings = surroundings
    self.client = client
  }

  /// Starts, or goes on after `suspend`.
  func resume() {
    guard state.resume() else { return }
    let watch = LoadWatch(
      idle: settings.timeout(of: request), total: settings.resourceTimeout)
    let task = Task { await self.run(watch) }
    state.began(task)
    watch.start { [weak self] in
      self?.end(with: URLError.make(.timedOut, "no progress in time", url: self?.request.url))
    }
  }

  /// Holds everything back until `resume`. What the cache is asking the origin is not asked again.
  func suspend() { state.suspend() }

  /// Gives up; nothing is told to the client any more.
  func cancel() { _ = state.end() }

  private func end(with error: URLError) {
    guard state.end() else { return }
    client.perform { $0?.fail(error) }
  }

  private func run(_ watch: LoadWatch) async {
    defer { watch.end() }
    do {
      let response = try await watch.waiting { try await self.respond() }
      defer { response.body.source.cancel() }
      guard let head = CachedHTTPURLResponse(response, to: request) else {
        throw URLError.make(.badServerResponse, "no response for Foundation", url: request.url)
      }
      try await tell { $0.receive(head) }
      switch surroundings.delivery {
      case .pieces: try await deliverPieces(of: response.body, watch)
      case .whole: try await deliverWhole(response.body, watch)
      }
      try await tell(last: true) { $0.finish() }
    } catch {
      end(with: URLError.make(error, url: request.url))
    }
  }

  private func respond() async throws -> CacheResponse {
    let policy = settings.policy(of: request)
    let timeout = settings.timeout(of: request)
    let options = RequestOptions(acceptsDecoded: true, acceptsEncoded: false, timeout: .seconds(timeout))
    let response = try await loading.cache.respond(
      to: settings.head(of: request), body: LoadSettings.body(of: request), policy: policy,
      options: options, via: loading.upstream)
    if policy == .cacheOnly, case .unsatisfiable = response.outcome {
      throw URLError.make(.resourceUnavailable, "nothing stored may answer", url: request.url)
    }
    return response
  }

  private func deliverPieces(of body: MessageBody, _ watch: LoadWatch) async throws {
    var untaken = 0
    while let bytes = try await next(body, watch) {
      let data = Data(bytes)
      try await tell { $0.load(data) }
      untaken += data.count
      if untaken >= Self.delegateWindow {
        await surroundings.delegateCaughtUp()
        untaken = 0
      }
    }
  }

  private func deliverWhole(_ body: MessageBody, _ watch: LoadWatch) async throws {
    var data = Data()
    let limit = loading.bodyLimit
    if let length = body.length {
      guard length <= limit else { throw URLError.tooLong(limit: limit, url: request.url) }
      data.reserveCapacity(Int(length))
    }
    while let bytes = try await next(body, watch) {
      guard data.count + bytes.count <= limit else {
        throw URLError.tooLong(limit: limit, url: request.url)
      }
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    let all = data
    if !all.isEmpty { try await tell { $0.load(all) } }
  }

  private func next(_ body: MessageBody, _ watch: LoadWatch) async throws -> BodyBytes? {
    try await state.untilRunning()
    return try await watch.waiting { try await body.source.next() }
  }

  /// Tells the client something, as soon as the task is not suspended.
  private func tell(
    last: Bool = false, _ call: @escaping @Sendable (LoadClient.Calls) -> Void
  ) async throws {
    while true {
      try await state.untilRunning()
      let isTold = await withCheckedContinuation { continuation in
        client.perform { calls in
          // Looked at where the task is suspended and cancelled, too, so that nothing comes between.
          let isRunning = self.state.isRunning
          if isRunning {
            if last { _ = self.state.end() }
            if let calls { call(calls) }
          }
          continuation.resume(returning: isRunning)
        }
      }
      if isTold { return }
    }
  }
}
