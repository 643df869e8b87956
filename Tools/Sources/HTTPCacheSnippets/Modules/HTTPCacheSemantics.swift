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

private func program2() async throws {
  let rules = CacheRules(mode: .private)
  let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/news")
  let start = Timestamp(seconds: 1_800_000_000)

  // A response has arrived: store it if the rules allow that.
  var candidates: [StoredResponse] = []
  let arrived = ReceivedResponse(
    HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""]),
    requestTime: start, responseTime: start)
  if case .store = Storability.decide(request: request, response: arrived.head, rules: rules, now: start),
    case .made(let stored) = StoredResponse.make(
      request: request, response: arrived, isDecoded: false, rules: rules, digest: { _ in nil })
  {
    candidates.append(stored)
  }

  // The next request, after five minutes: select a variant, and ask whether it may be reused.
  let now = Timestamp(seconds: start.seconds + 300)
  if case .selected(let index) = Vary.select(
    among: candidates, for: request, rules: rules, digest: { _ in nil })
  {
    let stored = candidates[index]
    let decision = Reuse.decide(
      stored: stored, request: request, directives: RequestDirectives(of: request, rules: rules),
      policy: .standard, rules: rules, now: now)
    switch decision {
    case .fresh(let age, _), .stale(_, let age, _):
      print("reuse:", stored.head(age: age.components.seconds))
    case .validate(let reason):
      // The request to send: it has If-None-Match.
      print(reason, Validation.request(request, validating: [stored], policy: .standard))
    case .miss(let reason): print("forward:", reason)
    case .unsatisfiable(let reason): print("504:", reason)
    }

    // The origin answered 304: freshen what the 304 confirms.
    let answer = ReceivedResponse(HTTPResponse(status: .notModified), requestTime: now, responseTime: now)
    if case .freshen(let confirmed) = Freshening.decide(notModified: answer.head, candidates: candidates) {
      for index in confirmed {
        candidates[index] = Freshening.updated(
          candidates[index], with: answer, rules: rules, validating: request)
      }
    }

    // Or the origin could not be reached: a stale response may answer.
    let fallback = Reuse.afterFailure(
      stored: stored, request: request, policy: .standard, rules: rules, now: now, failure: .unreachable)
    if case .useStale(let allowance) = fallback { print("stale:", allowance) }
  }

  // A request that changes the resource has been answered: invalidate.
  let change = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/news")
  for target in Invalidation.targets(request: change, response: HTTPResponse(status: .noContent)) {
    print("invalidate", target)
  }
}
