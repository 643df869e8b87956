// The Swift of Sources/HTTPCacheTracing/HTTPCacheTracing.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheTracing
import HTTPCaching

private func program1() async throws {
  func traced(_ origin: any Upstream) -> any Upstream { TracedUpstream(origin) }
}
