// The Swift of Sources/HTTPCacheTesting/HTTPCacheTesting.docc/HTTPCacheTesting.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheTesting
import HTTPCaching

private func program1() async throws {
  let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  let origin = ScriptedUpstream([.init(headers: ["Cache-Control": "max-age=60"], body: "hello")])
  let cache = try HTTPCache.open(HTTPCache.Configuration(clock: clock))
  let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")

  let first = try await cache.respond(to: request, via: origin)
  _ = try await first.body.collect()
  clock.advance(by: .seconds(61))
  let second = try await cache.respond(to: request, via: origin)
  print(second.outcome)
}
