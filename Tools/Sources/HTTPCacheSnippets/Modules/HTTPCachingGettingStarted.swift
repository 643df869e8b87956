// The Swift of Sources/HTTPCaching/HTTPCaching.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))

  let configuration = HTTPCache.Configuration(
    directory: "cache", memoryCapacity: 8 << 20, diskCapacity: 200 << 20,
    rules: CacheRules(mode: .private, heuristicLimit: .seconds(86_400)), cacheStatusName: "example",
    observer: .printing)
  let chosen = try HTTPCache.open(configuration)

  struct Fixed: Upstream {
    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      UpstreamResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        body: MessageBody(BodyBytes(Array("hello".utf8))))
    }
  }

  let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
  let response = try await cache.respond(to: request, via: Fixed())
  for try await part in response.body { print(part.count, "bytes") }
  print(response.outcome)

  let confirmed = try await cache.respond(to: request, policy: .revalidate, via: Fixed())
  let offline = try await cache.respond(to: request, policy: .cacheOnly, via: Fixed())
  let fallback = try await cache.respond(
    to: request, policy: .networkElseCache(maxStale: .seconds(86_400)), via: Fixed())
  print(confirmed.outcome, offline.outcome, fallback.outcome)

  await cache.finishBackgroundWork(within: .seconds(5))
  await cache.flush()
}
