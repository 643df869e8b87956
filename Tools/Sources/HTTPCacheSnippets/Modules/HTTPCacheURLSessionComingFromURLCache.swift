// The Swift of Sources/HTTPCacheURLSession/HTTPCacheURLSession.docc/ComingFromURLCache.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))

  // New code, in place of URLSession(configuration:):
  let session = CachedURLSession(cache: cache, configuration: .default)

  // Code that needs a URLSession, in place of configuration.urlCache = …:
  let existing = URLSession(configuration: .caching(with: cache))

  // Code that asks a URLCache:
  let urlCache = HTTPURLCache(cache: cache)

  let (_, decided) = try await session.data(from: URL(string: "https://www.example.com/")!)
  for step in decided.cacheOutcome?.protocolPolicyPath ?? [] { print(step) }

  let careful = StoringHook.strippingAuthentication
    .then(.secureInMemoryOnly)
    .then(.notStoring { _, response in response.headerFields[.contentType] == "video/mp4" })
  let hooked = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", willStore: careful))

  let marked = StoringHook { request, proposal in
    if request.path?.hasPrefix("/drafts/") == true { return nil }
    var proposal = proposal
    proposal.userInfo = Array("made by version 2".utf8)
    return proposal
  }

  let url = URL(string: "https://www.example.com/flight-plan.pdf")!
  _ = try await session.download(
    for: URLRequest(url: url), to: URL(fileURLWithPath: "flight-plan.pdf"))

  func adopt(_ file: URL, _ response: URLResponse, for request: URLRequest) throws {
    let data = try Data(contentsOf: file, options: .mappedIfSafe)
    urlCache.storeCachedResponse(
      CachedURLResponse(response: response, data: data), for: request)
  }
}
