import ArgumentParser
import Foundation
import HTTPCacheSemantics
import HTTPCacheProxy
import HTTPCaching
import NIOCore

/// The answers of the admin listener.
struct AdminRoutes: Sendable {
  /// Maximum number of entries of one answer.
  private static let mostEntries = 1_000

  let cache: HTTPCache
  let server: ProxyServer
  let events: EventCounts
  /// The connections that read live figures.
  let readers = BoundedCount(limit: 32)

  /// The answer to an allowed request.
  func answer(_ request: AdminRequest) async -> AdminResponse {
    do {
      if request.method == "PURGE" {
        return try await purge(
          request, try AdminQuery("?url=" + TargetURI.percentEncoded(request.target.utf8)))
      }
      let query = try AdminQuery(request.target)
      if query.path == "/purge" {
        guard request.method == "POST" else { return Self.notAllowed(query.path, allow: "POST") }
        return try await purge(request, query)
      }
      guard request.method == "GET" || request.method == "HEAD" else {
        return Self.notAllowed(query.path, allow: "GET, HEAD")
      }
      return try await read(query)
    } catch let error as ValidationError {
      return AdminResponse(status: 400, body: "400: \(error.message.printable)\n")
    } catch let error as CacheError where error.code == .invalidRequest {
      return AdminResponse(status: 400, body: "400: \(error.message.printable)\n")
    } catch {
      return AdminResponse(status: 503, body: "503: \(error)\n")
    }
  }

  /// The refusal of another method than those that a path has (RFC 9110 §15.5.6).
  private static func notAllowed(_ path: String, allow methods: String) -> AdminResponse {
    var response = AdminResponse(status: 405, body: "405: \(path) requires \(methods)\n")
    response.allow = methods
    return response
  }

  private func read(_ query: AdminQuery) async throws -> AdminResponse {
    if let page = DashboardPage.response(query.path) { return page }
    switch query.path {
    case "/healthz": return AdminResponse(body: "ok\n")
    case "/readyz":
      guard server.isAccepting else { return AdminResponse(status: 503, body: "503: the proxy is ending\n") }
      // Throws if the index cannot be read.
      _ = try await cache.counts()
      return AdminResponse(body: "ready\n")
    case "/metrics":
      return AdminResponse(contentType: PrometheusText.contentType, body: try await metrics())
    case "/stats":
      let counts = try await cache.counts()
      return try Self.json(
        AdminStats(
          counts, usage: cache.usage, connections: server.connectionCount, fleet: AdminFleet(cache, counts)))
    case "/entries": return try await entries(query)
    case "/explain": return try await explain(query)
    case "/live": return live()
    case "/requests": return try requests(query)
    case "/missed": return try missed(query)
    case "/hosts": return try await hosts()
    default: return AdminResponse(status: 404, body: "404: there is no \(query.path)\n")
    }
  }

  // MARK: Reading

  private func entries(_ query: AdminQuery) async throws -> AdminResponse {
    let limit = try query.number("limit") ?? 100
    guard (1...Int64(Self.mostEntries)).contains(limit) else {
      throw ValidationError("limit must be between 1 and \(Self.mostEntries) (got \(limit))")
    }
    let selection =
      try query.nonempty("prefix").map { CacheSelection.prefix(TargetURL.normalizedPrefix($0)) } ?? .all
    let page = try await cache.entries(
      selection, after: try query.number("after").map { EntryCursor(position: $0) }, limit: Int(limit))
    let now = cache.configuration.clock.now
    return try Self.json(
      AdminEntries(
        entries: page.entries.map { EntryJSON($0, rules: cache.configuration.rules, now: now) },
        next: page.next.map { "\($0.position)" }))
  }

  /// Where the server sends requests now, and by which rules it stores.
  private var served: ServedDirectory {
    let address = server.address.flatMap { address in
      address.port.map { ListenAddress(host: address.ipAddress ?? "", port: $0) }
    }
    return ServedDirectory(rules: cache.configuration.rules, routes: server.routes, address: address)
  }

  /// The decision about a request for a URL of the origin, or of clients if nothing is stored for the URL itself.
  private func explain(_ query: AdminQuery) async throws -> AdminResponse {
    let url = try TargetURL(parsing: try query.required("url"))
    let target = url.asGiven ?? url
    let isStored = try await !cache.entries(.target(target.normalized), limit: 1).entries.isEmpty
    if !isStored, served.hasNoRoute(for: target) {
      return try Self.json(ExplanationJSON.noRoute(for: target))
    }
    let place = isStored ? nil : served.place(of: target)
    let explanation = try cache.explain(
      place?.request
        ?? HTTPRequest(method: .get, scheme: target.scheme, authority: target.authority, path: target.path),
      policy: .standard,
      options: RequestOptions(partition: query["partition"] ?? place?.partition ?? ""))
    return try Self.json(ExplanationJSON(explanation))
  }

  private func metrics() async throws -> String {
    var text = PrometheusText()
    server.addMetrics(to: &text)
    events.add(to: &text)
    let counts = try await cache.counts()
    text.add(
      "httpcache_stores_total", .counter,
      help: "Responses that were stored over the life of the directory, by all its processes.",
      value: counts.stores)
    text.add(
      "httpcache_evictions_total", .counter,
      help: "Responses that were evicted over the life of the directory, by all its processes.",
      value: counts.evictions)
    text.add(
      "httpcache_origin_body_bytes_total", .counter,
      help: "Bytes of bodies received from origins over the life of the directory.", value: counts.originBytes
    )
    if let fleet = AdminFleet(cache, counts) {
      fleet.add(to: &text)
      events.addFleet(to: &text)
    }
    let usage = cache.usage
    let tiers = [
      ("memory", usage.memoryBytes, usage.memoryCapacity, usage.memoryEntries),
      ("disk", usage.diskBytes, usage.diskCapacity, usage.diskEntries),
    ]
    text.begin("httpcache_store_bytes", .gauge, help: "Bytes in use, by tier.")
    for tier in tiers { text.add("httpcache_store_bytes", labels: [("tier", tier.0)], value: "\(tier.1)") }
    text.begin("httpcache_store_capacity_bytes", .gauge, help: "The capacity, by tier.")
    for tier in tiers {
      text.add("httpcache_store_capacity_bytes", labels: [("tier", tier.0)], value: "\(tier.2)")
    }
    text.begin("httpcache_store_entries", .gauge, help: "Stored responses, by tier; copies in memory count.")
    for tier in tiers { text.add("httpcache_store_entries", labels: [("tier", tier.0)], value: "\(tier.3)") }
    return text.text
  }

  // MARK: Changing

  private func purge(_ request: AdminRequest, _ query: AdminQuery) async throws -> AdminResponse {
    guard request.hasToken else {
      return AdminResponse(status: 403, body: "403: purging requires --admin-token-file and its token\n")
    }
    let report = try await PurgeReport.purge(
      try PurgeQuery(query: query, served: served).selections(), isSoft: try query.isSet("soft"), from: cache)
    return AdminResponse(
      status: report.status, contentType: "application/json", body: report.json + "\n")
  }

  static func json(_ value: some Encodable) throws -> AdminResponse {
    AdminResponse(contentType: "application/json", body: try Console.json(value) + "\n")
  }
}

extension AdminRoutes {
  private static let mostTargets = 100

  /// The figures of each second from now on, as server-sent events.
  func live() -> AdminResponse {
    stream("text/event-stream") { send in
      var (before, then) = (server.totals, ContinuousClock.now)
      // An event at once, so that a reader knows that it is connected.
      send(await event(TrafficTotals(), seconds: 0))
      while true {
        try await Task.sleep(for: .seconds(1))
        let (totals, now) = (server.totals, ContinuousClock.now)
        send(await event(totals - before, seconds: (now - then) / .seconds(1)))
        (before, then) = (totals, now)
      }
    }
  }

  private func event(_ traffic: TrafficTotals, seconds: Double) async -> String {
    let counts = cache.fleetStatus == nil ? nil : try? await cache.counts()
    let sample = AdminLive(
      traffic, seconds: seconds, at: Date().timeIntervalSince1970, cache.usage,
      connections: server.connectionCount, fleet: counts.flatMap { AdminFleet(cache, $0) })
    return (try? Console.json(sample)).map { "data: \($0)\n\n" } ?? ""
  }

  /// The requests that finish from now on, one JSON object a line.
  ///
  /// - Throws: `ValidationError`.
  func requests(_ query: AdminQuery) throws -> AdminResponse {
    let filter = try RequestFilter(
      target: try query.nonempty("target"), outcomes: try query.nonempty("outcome"), client: query["client"])
    let requests = server.requests()
    return stream("application/x-ndjson") { send in
      for await request in requests where filter.matches(request) {
        let line = AdminRequestLine(request, at: Date().timeIntervalSince1970)
        if let line = try? Console.json(line) { send(line + "\n") }
      }
    }
  }

  /// The targets that were missed most, or are the slowest.
  func missed(_ query: AdminQuery) throws -> AdminResponse {
    var targets = server.missedTargets
    switch query["by"] {
    case nil, "requests": break
    case "time": targets.sort { $0.slowest > $1.slowest }
    case let order?: throw ValidationError("by must be requests or time (got '\(order)')")
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
    guard readers.add() else {
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
      readers.subtract()
    }
    return AdminResponse(contentType: contentType, body: "", rest: stream)
  }
}
