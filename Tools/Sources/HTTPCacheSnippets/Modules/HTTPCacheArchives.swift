// The Swift of Sources/HTTPCacheArchives/HTTPCacheArchives.docc/HTTPCacheArchives.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheArchives
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app", seeds: [.bundle("content.hca")]))
  print(cache.configuration.seeds.count)
}
