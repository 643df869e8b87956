// The Swift of docs/archives.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheArchives
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", seeds: [try ArchiveSeed(path: "content.hca")]))

  let session = CachedURLSession(cache: try .open(.userCaches("com.example.app", seeds: [.bundle("PreCache")])))
  let urlCache = HTTPURLCache(memoryCapacity: 8 << 20, diskCapacity: 256 << 20, seeds: [try .bundle("PreCache")])

  try await cache.export(.prefix("https://www.example.com/"), to: "content.hca")
  try await cache.export(to: "site.har")

  let origin = try ReplayUpstream(path: "fixtures/api.har")
}
