// The Swift of Sources/HTTPCaching/HTTPCaching.docc/WhyIsMyResponseNotCached.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCaching

private func program1() async throws {
  func look(at outcome: CacheOutcome) {
    print(outcome)
    if case .forwarded(_, _, .doNotStore(let refusal), _) = outcome {
      print("see", refusal.section)
    }
  }

  func tell(_ cache: HTTPCache, about request: HTTPRequest) throws {
    print(try cache.explain(request, options: RequestOptions(bodyForms: .any)))
    for refusal in try cache.refusals(of: request) {
      print(refusal.time.httpDate, refusal.status, refusal.explanation.steps.last?.answer ?? "")
    }
  }

  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", observer: .printing))
}
