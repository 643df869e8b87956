// The Swift of docs/async-http-client.md, written by scripts/snippets.py.
// swift-format-ignore-file

import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20))
  let client = CachedHTTPClient(cache: cache)

  var request = HTTPClientRequest(url: "https://api.example.com/forecast/berlin")
  request.headers.add(name: "Accept", value: "application/json")
  let response = try await client.execute(request, timeout: .seconds(10))
  print(response.status, response.cacheOutcome)
  for try await part in response.body { print(part.readableBytes) }

  let plain: HTTPClientResponse = response.response
  print(plain.headers)
  try await client.shutdown()
}
