// The Swift of Sources/HTTPCacheURLSession/HTTPCacheURLSession.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let session = CachedURLSession(cache: cache)
  let url = URL(string: "https://www.example.com/")!

  for _ in 1...2 {
    let (data, response) = try await session.data(from: url)
    print(data.count, "bytes,", response.cacheOutcome?.description ?? "")
  }

  var request = URLRequest(url: url)
  request.cachePolicy = .returnCacheDataElseLoad
  let (old, _) = try await session.data(for: request)

  let (newest, _) = try await session.data(
    for: URLRequest(url: url), cachePolicy: .networkElseCache(maxStale: .seconds(86_400)))
  print(old.count, newest.count)

  let destination = URL(fileURLWithPath: "flight-plan.pdf")
  _ = try await session.download(for: URLRequest(url: url), to: destination)

  let existing = URLSession(configuration: .caching(with: cache))
  let (body, _) = try await existing.data(from: url)
  print(body.count)

  await cache.flush()
}
