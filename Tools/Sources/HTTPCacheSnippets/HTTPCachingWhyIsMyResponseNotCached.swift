// The Swift of Sources/HTTPCaching/HTTPCaching.docc/WhyIsMyResponseNotCached.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCaching

private func program1() async throws {
  func words(_ outcome: CacheOutcome) -> String {
    switch outcome {
    case .hit(let age, let lifetime, nil):
      "from the store, fresh for \(lifetime - age) s more"
    case .hit(_, _, let allowance?):
      "from the store, stale: \(allowance)"
    case .validated(let reason, _, _):
      "stored, but the origin was asked whether it still holds: \(reason)"
    case .forwarded(_, _, .doNotStore(let refusal), _):
      "from the origin, and not stored: \(refusal) \(refusal.section)"
    case .forwarded(let reason, _, .store, _):
      "from the origin: \(reason); stored when its body has ended"
    case .unsatisfiable(let reason):
      "no answer: \(reason)"
    }
  }

  func tell(_ cache: HTTPCache, about request: HTTPRequest) throws {
    print(try cache.explain(request, options: RequestOptions(acceptsDecoded: true)))
    for refusal in try cache.refusals(of: request) {
      print(refusal.time.httpDate, refusal.status, refusal.explanation.steps.last?.answer ?? "")
    }
  }

  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", observer: PrintingObserver()))
}
