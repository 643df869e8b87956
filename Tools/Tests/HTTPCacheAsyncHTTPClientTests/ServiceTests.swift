import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching
import Logging
import ServiceLifecycle
import Testing

/// `CachedHTTPClient` in a service group.
@Suite(.timeLimit(.minutes(10))) struct ServiceTests {
  @Test("a graceful shutdown, or a cancelled task, shuts the client down", arguments: [false, true])
  func shutDown(_ isCancelled: Bool) async throws {
    let client = CachedHTTPClient(cache: try .open(HTTPCache.Configuration()))
    let group = ServiceGroup(services: [client], logger: Logger(label: "test"))
    let running = Task { try await group.run() }
    if isCancelled { running.cancel() } else { await group.triggerGracefulShutdown() }
    _ = await running.result
    // The client refuses further requests, and a second shutdown.
    await #expect(throws: HTTPClientError.alreadyShutdown) { try await client.shutdown() }
    await #expect(throws: HTTPClientError.self) {
      try await client.get(url: "http://127.0.0.1:9/")
    }
  }
}
