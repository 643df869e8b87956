import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("Failed attempts, and when the next one is", .timeLimit(.minutes(10)))
struct DownloadRetryTests {
  private func policy(_ change: (inout DownloadQueue.Configuration) -> Void = { _ in }) -> RetryPolicy {
    RetryPolicy(configuration: TestQueue.configuration(change))
  }

  @Test("waits double up to the longest one, and a random half is left out")
  func backoff() {
    let waits = (1...12).map { policy().wait(tries: $0, retryAfter: nil) }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    let short = policy { $0.random = { 1 } }
    #expect((1...9).map { short.wait(tries: $0, retryAfter: nil) } == [1, 1, 2, 4, 8, 16, 32, 64, 128])
    #expect(policy { $0.firstWait = .max }.wait(tries: 100, retryAfter: nil) == 300)
  }

  @Test("a state as text names its reason, and the time of the next attempt as a date")
  func stateTexts() {
    let failure = DownloadFailure(.timeout, "no head within 30 s")
    let texts: [(DownloadState, String)] = [
      (.waiting(.slot), "waiting"), (.waiting(.network), "offline"), (.receiving, "receiving"),
      (
        .waiting(.retry(at: Timestamp(seconds: 784_111_777), after: failure)),
        "retrying at Sun, 06 Nov 1994 08:49:37 GMT, after timeout: no head within 30 s"
      ),
      (.done(.validated), "done: validated"), (.failed(failure), "failed: timeout: no head within 30 s"),
    ]
    for (state, text) in texts { #expect("\(state)" == text) }
  }

  @Test("Retry-After is bounded")
  func retryAfter() {
    #expect(policy().wait(tries: 1, retryAfter: 31_536_000) == 3_600)
    #expect(policy().wait(tries: 1, retryAfter: 0) == 1)
  }

  @Test("a Retry-After of a year delays the next attempt by an hour")
  func year() async throws {
    let test = try TestQueue(count: 10)
    test.origin.change {
      $0.answers = [ScriptedResponse(status: 503, headers: ["Retry-After": "31536000"])]
    }
    let id = try test.add()
    #expect(try await test.retry(id) == 3_600)
    #expect(try await test.end(id) == .done(.fetched))
  }

  @Test(
    "statuses that another attempt does not change fail at once",
    arguments: [
      (404, .gone), (410, .gone), (401, .forbidden), (403, .forbidden), (407, .forbidden), (451, .forbidden),
      (400, .status), (204, .status), (205, .status), (206, .status), (416, .status), (304, .redirects),
    ] as [(Int, DownloadFailure.Kind)])
  func final(status: Int, kind: DownloadFailure.Kind) async throws {
    let test = try TestQueue()
    test.origin.change { $0.answers = [ScriptedResponse(status: status)] }
    let id = try test.add("/file", to: "file")
    #expect(try await test.end(id).failure == kind)
    #expect(test.contents("file") == nil)
    #expect(test.upstream.requestCount == 1)
  }

  @Test("an origin that cannot be reached is asked as often as the limit of tries allows")
  func tries() async throws {
    let test = try TestQueue { $0.tryLimit = 4 }
    test.origin.change { $0.answers = (0..<9).map { _ in .failure(.unreachable) } }
    let id = try test.add()
    #expect(try await test.end(id).failure == .unreachable)
    #expect(test.upstream.requestCount == 4)
    #expect(test.clock.now - TestQueue.start == 1 + 2 + 4)
    test.origin.change { $0.answers = [] }
    test.queue.resume(id)
    #expect(try await test.end(id) == .done(.fetched))
  }

  @Test("after the limit of time there is no further attempt")
  func time() async throws {
    let test = try TestQueue {
      $0.timeLimit = 100
      $0.tryLimit = 1_000
    }
    test.origin.change { $0.answers = (0..<99).map { _ in .failure(.timeout) } }
    let id = try test.add()
    #expect(try await test.end(id).failure == .timeout)
    #expect(test.clock.now - TestQueue.start <= 100)
  }

  @Test("an attempt that brings bytes makes the tries count anew")
  func progress() async throws {
    let test = try TestQueue(count: 50) { $0.tryLimit = 2 }
    test.origin.change { $0.cuts = Array(repeating: 5, count: 9) }
    let id = try test.add("/file", to: "file")
    try await test.expectFetched(id)
    #expect(test.upstream.requestCount == 10)
  }

  @Test("TLS failures are not tried again")
  func tls() async throws {
    let test = try TestQueue()
    test.origin.change { $0.answers = [.failure(.tls)] }
    let id = try test.add()
    #expect(try await test.end(id).failure == .tls)
    #expect(test.upstream.requestCount == 1)
  }

  @Test("a stale entry does not pass for the file while the origin cannot be asked")
  func stale() async throws {
    let test = try TestQueue(count: 10)
    _ = try await test.end(try test.add())
    test.clock.advance(by: 1_000)
    test.origin.change { $0.answers = [.failure(.unreachable)] }
    let id = try test.add("/file", to: "file")
    try await test.retry(id)
    #expect(try await test.end(id) == .done(.validated))
    #expect(test.contents("file") == test.origin.content)
  }

  @Test("a stale entry does not confirm the file at the destination while the origin cannot be asked")
  func staleDestination() async throws {
    let test = try TestQueue(count: 10)
    let id = try test.add("/file", to: "file")
    _ = try await test.end(id)
    test.clock.advance(by: 1_000)
    test.origin.change { $0.answers = [.failure(.unreachable)] }
    try test.add("/file", to: "file")
    try await test.retry(id)
    #expect(try await test.end(id) == .done(.destination))
  }

  @Test("a queue to which no reference is left goes on after a break")
  func unreferenced() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true)
    test.origin.change { $0.cuts = [200_000] }
    weak var released: DownloadQueue?
    var queue: DownloadQueue? = try test.reopen(name: "other")
    released = queue
    let id = try #require(try queue?.add(try test.download("/file", to: "file")))
    _ = await test.wait(id, in: queue) { $0.isRetry }
    queue = nil
    await test.clock.waitForSleepers()
    test.clock.advance(by: 1)
    let status = await released?.finished(id)
    #expect(status?.state == .done(.fetched))
    #expect(test.contents("file") == test.origin.content)
    await released?.close()
  }

  @Test("without a connection a download waits, counts no attempt, and goes on when there is one")
  func network() async throws {
    let test = try TestQueue(count: 10)
    test.cache.isOffline = true
    let id = try test.add("/file", to: "file")
    let status = await test.wait(id) { $0 == .waiting(.network) || $0.isEnded }
    #expect(status?.state == .waiting(.network))
    #expect(status?.tries == 0)
    test.cache.isOffline = false
    await test.clock.waitForSleepers()
    test.clock.advance(by: 5)
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.upstream.requestCount == 1)
  }
}
