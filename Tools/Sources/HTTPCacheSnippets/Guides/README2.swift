// The Swift of README.md, written by scripts/snippets.py.
// swift-format-ignore-file

import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching
import NIOCore

private func program1() async throws {
  let client = CachedHTTPClient(cache: try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20)))
  let request = HTTPClientRequest(url: "https://api.example.com/forecast/berlin")
  let response = try await client.execute(request, timeout: .seconds(10))
  print(response.status, response.cacheOutcome)
}
