// The Swift of docs/archives.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheArchives
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", seeds: [try ArchiveSeed(path: "content.hca")]))
}
