import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching
import NIOCore
import NIOHTTP1

/// A server's client for an API of another server.
struct WeatherClient: Sendable {
  let client: CachedHTTPClient

  init() throws {
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20))
    client = CachedHTTPClient(cache: cache)
  }

  func forecast(for place: String) async throws -> ByteBuffer {
    var request = HTTPClientRequest(url: "https://api.example.com/forecast/\(place)")
    request.headers.add(name: "Accept", value: "application/json")
    let response = try await client.execute(request, timeout: .seconds(10))
    print(response.status, response.cacheOutcome)
    return try await response.body.collect(upTo: 1 << 20)
  }
}
