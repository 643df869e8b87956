import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// Rows about requests that the origin answers with 1 KiB, from the request to the last byte: stored in memory, and not
/// stored. The origin answers at once, so that all is the engine's.
func missRows() throws -> [Row] {
  let clock = StandingClock()
  let executor = Waiting()
  var configuration = HTTPCache.Configuration(clock: clock)
  configuration.executor = executor
  let cache = HTTPCache(configuration: configuration, store: MemoryStore(capacity: 64 << 20, clock: clock))
  let paths = (0..<64).map { "/news/article-\($0)?number=" }
  let numbers = Numbers()

  func row(_ name: String, response index: Int) -> Row {
    let upstream = ImmediateUpstream(head: Samples.response(index))
    return Row(name, count: paths.count) {
      let sum = try? Waiting.run(on: executor) {
        var sum = 0
        for (index, path) in paths.enumerated() {
          let request = Samples.request(index, path: path + String(numbers.next()))
          let response = try await cache.respond(to: request, via: upstream)
          while let bytes = try await response.body.source.next() { sum += bytes.count }
        }
        return sum
      }
      if sum != paths.count << 10 { print("\(name): a request was not answered") }
      return sum ?? 0
    }
  }
  return [row("miss, 1 KiB, stored in memory", response: 1), row("miss, 1 KiB, no-store", response: 7)]
}

/// Answers each request at once with 1 KiB.
private struct ImmediateUpstream: Upstream {
  let head: HTTPResponse
  private let body = BodyBytes([UInt8](repeating: 0x61, count: 1_024))

  init(head: HTTPResponse) { self.head = head }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    UpstreamResponse(head: head, body: MessageBody(body))
  }
}

/// Makes each target new. One thread uses it.
private final class Numbers: @unchecked Sendable {
  // @unchecked Sendable because only the thread that measures calls it.
  private var last = 0

  func next() -> Int {
    last += 1
    return last
  }
}
