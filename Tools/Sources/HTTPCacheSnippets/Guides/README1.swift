// The Swift of README.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let session = CachedURLSession(cache: cache)
  let (data, response) = try await session.data(from: URL(string: "https://www.example.com/")!)
  print(data.count, response.cacheOutcome?.description ?? "not cached")
}
