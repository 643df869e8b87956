import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("Failed attempts, and when the next one is", .timeLimit(.minutes(10)))
struct DownloadRetryTests {
  private func policy(_ change: (inout DownloadQueue.Configuration) -> Void = { _ in }) -> RetryPolicy {
    RetryPolicy(configuration: DownloadKitchen.configuration(change))
  }

  @Test("waits double up to the longest one, and a random half is left out")
  func backoff() {
    let waits = (1...12).map { policy().wait(tries: $0, retryAfter: nil) }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    let short = policy { $0.random = { 1 } }
    #expect((1...9).map { short.wait(tries: $0, retryAfter: nil) } == [1, 1, 2, 4, 8, 16, 32, 64, 128])
    #expect(policy { $0.firstWait = .max }.wait(tries: 100, retryAfter: nil) == 300)
  }

  @Test("Retry-After is bounded")
  func retryAfter() {
    #expect(policy().wait(tries: 1, retryAfter: 31_536_000) == 3_600)
    #expect(policy().wait(tries: 1, retryAfter: 0) == 1)
  }

  @Test("a Retry-After of a year delays the next attempt by an hour")
  func year() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    kitchen.origin.change {
      $0.answers = [ScriptedResponse(status: 503, headers: ["Retry-After": "31536000"])]
    }
    let id = try kitchen.add()
    #expect(try await kitchen.retry(id) == 3_600)
    #expect(try await kitchen.end(id) == .done(.fetched))
  }

  @Test(
    "statuses that another attempt does not change fail at once",
    arguments: [
      (404, .gone), (410, .gone), (401, .forbidden), (403, .forbidden), (407, .forbidden), (451, .forbidden),
      (400, .status), (204, .status), (205, .status), (206, .status), (416, .status), (304, .redirects),
    ] as [(Int, DownloadFailure.Kind)])
  func final(status: Int, kind: DownloadFailure.Kind) async throws {
    let kitchen = try DownloadKitchen()
    kitchen.origin.change { $0.answers = [ScriptedResponse(status: status)] }
    let id = try kitchen.add("/file", to: "file")
    #expect(try await kitchen.end(id).failure == kind)
    #expect(kitchen.contents("file") == nil)
    #expect(kitchen.upstream.requestCount == 1)
  }

  @Test("an origin that cannot be reached is asked as often as the limit of tries allows")
  func tries() async throws {
    let kitchen = try DownloadKitchen { $0.tryLimit = 4 }
    kitchen.origin.change { $0.answers = (0..<9).map { _ in .failure(.unreachable) } }
    let id = try kitchen.add()
    #expect(try await kitchen.end(id).failure == .unreachable)
    #expect(kitchen.upstream.requestCount == 4)
    #expect(kitchen.clock.now - DownloadKitchen.start == 1 + 2 + 4)
    kitchen.origin.change { $0.answers = [] }
    kitchen.queue.resume(id)
    #expect(try await kitchen.end(id) == .done(.fetched))
  }

  @Test("after the limit of time there is no further attempt")
  func time() async throws {
    let kitchen = try DownloadKitchen {
      $0.timeLimit = 100
      $0.tryLimit = 1_000
    }
    kitchen.origin.change { $0.answers = (0..<99).map { _ in .failure(.timeout) } }
    let id = try kitchen.add()
    #expect(try await kitchen.end(id).failure == .timeout)
    #expect(kitchen.clock.now - DownloadKitchen.start <= 100)
  }

  @Test("an attempt that brings bytes makes the tries count anew")
  func progress() async throws {
    let kitchen = try DownloadKitchen(count: 50) { $0.tryLimit = 2 }
    kitchen.origin.change { $0.cuts = Array(repeating: 5, count: 9) }
    let id = try kitchen.add("/file", to: "file")
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.upstream.requestCount == 10)
  }

  @Test("TLS failures are not tried again")
  func tls() async throws {
    let kitchen = try DownloadKitchen()
    kitchen.origin.change { $0.answers = [.failure(.tls)] }
    let id = try kitchen.add()
    #expect(try await kitchen.end(id).failure == .tls)
    #expect(kitchen.upstream.requestCount == 1)
  }

  @Test("a stale entry does not pass for the file while the origin cannot be asked")
  func stale() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    _ = try await kitchen.end(try kitchen.add())
    kitchen.clock.advance(by: 1_000)
    kitchen.origin.change { $0.answers = [.failure(.unreachable)] }
    let id = try kitchen.add("/file", to: "file")
    try await kitchen.retry(id)
    #expect(try await kitchen.end(id) == .done(.validated))
    #expect(kitchen.contents("file") == kitchen.origin.content)
  }

  @Test("a stale entry does not confirm the file at the destination while the origin cannot be asked")
  func staleDestination() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    let id = try kitchen.add("/file", to: "file")
    _ = try await kitchen.end(id)
    kitchen.clock.advance(by: 1_000)
    kitchen.origin.change { $0.answers = [.failure(.unreachable)] }
    try kitchen.add("/file", to: "file")
    try await kitchen.retry(id)
    #expect(try await kitchen.end(id) == .done(.destination))
  }

  @Test("a queue to which no reference is left goes on after a break")
  func unreferenced() async throws {
    let kitchen = try DownloadKitchen(count: 300_000, onDisk: true)
    kitchen.origin.change { $0.cuts = [200_000] }
    weak var released: DownloadQueue?
    var queue: DownloadQueue? = try kitchen.reopen(name: "other")
    released = queue
    let id = try #require(try queue?.add(try kitchen.download("/file", to: "file")))
    _ = await kitchen.wait(id, in: queue) { $0.isRetry }
    queue = nil
    await kitchen.clock.waitForSleepers()
    kitchen.clock.advance(by: 1)
    let status = await released?.finished(id)
    #expect(status?.state == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    await released?.close()
  }

  @Test("without a connection a download waits, counts no attempt, and goes on when there is one")
  func network() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    kitchen.cache.isOffline = true
    let id = try kitchen.add("/file", to: "file")
    let status = await kitchen.wait(id) { $0 == .waiting(.network) || $0.isEnded }
    #expect(status?.state == .waiting(.network))
    #expect(status?.tries == 0)
    kitchen.cache.isOffline = false
    await kitchen.clock.waitForSleepers()
    kitchen.clock.advance(by: 5)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.upstream.requestCount == 1)
  }
}
