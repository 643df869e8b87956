import Foundation
import HTTPCacheProxy
import HTTPCaching

extension AdminRoutes {
  private static let mostTargets = 100

  /// The figures of each second from now on, as server-sent events.
  func live() -> AdminResponse {
    stream("text/event-stream") { send in
      var (before, then) = (server.totals, ContinuousClock.now)
      // An event at once, so that a reader knows that it is connected.
      send(event(TrafficTotals(), seconds: 0))
      while true {
        try await Task.sleep(for: .seconds(1))
        let (totals, now) = (server.totals, ContinuousClock.now)
        send(event(totals - before, seconds: (now - then) / .seconds(1)))
        (before, then) = (totals, now)
      }
    }
  }

  private func event(_ traffic: TrafficTotals, seconds: Double) -> String {
    let sample = AdminLive(
      traffic, seconds: seconds, at: Date().timeIntervalSince1970, cache.usage,
      connections: server.connectionCount)
    return Self.line(sample).map { "data: \($0)\n\n" } ?? ""
  }

  /// The requests that finish from now on, one JSON object a line.
  ///
  /// - Throws: `AdminQuery.Invalid`.
  func requests(_ query: AdminQuery) throws -> AdminResponse {
    let filter = try RequestFilter(
      target: query["target"], outcomes: query["outcome"], client: query["client"])
    let requests = server.requests()
    return stream("application/x-ndjson") { send in
      for await request in requests where filter.matches(request) {
        let line = AdminRequestLine(request, at: Date().timeIntervalSince1970)
        if let line = Self.line(line) { send(line + "\n") }
      }
    }
  }

  /// The targets that were missed most, or are the slowest.
  func missed(_ query: AdminQuery) throws -> AdminResponse {
    var targets = server.missedTargets
    switch query["by"] {
    case nil, "requests": break
    case "time": targets.sort { $0.slowest > $1.slowest }
    case let order?: throw AdminQuery.Invalid("by must be requests or time (got '\(order)')")
    }
    return try Self.json(targets.prefix(Self.mostTargets).map { AdminMissed($0) })
  }

  /// The bytes of stored responses by host: those that fill the cache.
  func hosts() async throws -> AdminResponse {
    try Self.json(try await AdminHosts(of: cache))
  }

  /// An answer that is sent as it is made, until the reader closes the connection.
  private func stream(
    _ contentType: String,
    _ make: @escaping @Sendable (_ send: @escaping @Sendable (String) -> Void) async throws -> Void
  ) -> AdminResponse {
    guard readers.begin() else {
      return AdminResponse(status: 503, body: "503: too many readers of live figures\n")
    }
    let readers = readers
    // A reader that does not keep up misses some.
    let (stream, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(1_000))
    let task = Task {
      try? await make { continuation.yield($0) }
      continuation.finish()
    }
    continuation.onTermination = { _ in
      task.cancel()
      readers.end()
    }
    return AdminResponse(contentType: contentType, body: "", rest: stream)
  }

  private static func line(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
  }
}
