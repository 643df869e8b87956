// The Swift of Sources/HTTPCacheSemantics/HTTPCacheSemantics.docc/HTTPCacheSemantics.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheSemantics
import HTTPTypes

private func program1() async throws {
  let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
  let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
  let now = Timestamp(seconds: 1_800_000_000)

  switch Storability.decide(request: request, response: response, rules: CacheRules(), now: now) {
  case .store: print("may be stored")
  case .doNotStore(let refusal): print("may not:", refusal, refusal.section)
  }
}
