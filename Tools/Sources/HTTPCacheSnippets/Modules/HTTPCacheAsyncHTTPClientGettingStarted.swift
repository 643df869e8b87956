// The Swift of Sources/HTTPCacheAsyncHTTPClient/HTTPCacheAsyncHTTPClient.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(HTTPCache.Configuration(directory: "cache"))
  try await CachedHTTPClient.withClient(cache: cache) { client in
    for _ in 1...2 {
      let request = HTTPClientRequest(url: "https://www.example.com/")
      let response = try await client.execute(request, timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 1 << 20)
      print(response.status, body.readableBytes, response.cacheOutcome)
    }
  }

  var configuration = HTTPClient.Configuration()
  configuration.redirectConfiguration = .disallow
  configuration.failInvalidStatus()
  configuration.failConnectionErrors()
  let mine = HTTPClient(configuration: configuration)
  let sharing = CachedHTTPClient(cache: cache, sharing: mine)
  let answer = try await sharing.get(url: "https://www.example.com/", cachePolicy: .revalidate)
  print(answer.cacheOutcome)
  try await mine.shutdown()

  let many = try HTTPCache.open(
    HTTPCache.Configuration(directory: "shared-cache", rules: CacheRules(mode: .shared)))
  let forAll = CachedHTTPClient(cache: many)
  let page = try await forAll.execute(
    HTTPClientRequest(url: "https://www.example.com/account"), timeout: .seconds(30),
    partition: "user-17")
  print(page.status)
  try await forAll.shutdown()
}
