// The Swift of docs/urlsession.md, written by scripts/snippets.py.
// swift-format-ignore-file

import AsyncHTTPClient
import Foundation
import HTTPCacheAsyncHTTPClient
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  var settings = HTTPClient.Configuration.singletonConfiguration
  settings.redirectConfiguration = .disallow
  settings.failInvalidStatus()
  settings.failConnectionErrors()
  let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  let transport = AsyncHTTPClientUpstream(client: client, isDecompressing: true)
  let overNIO = CachedURLSession(cache: try HTTPCache.open(.userCaches("com.example.app")), via: transport)
  let (page, pageResponse) = try await overNIO.data(from: URL(string: "https://www.example.com/")!)
  print(page.count, pageResponse.cacheOutcome?.description ?? "")
  try await client.shutdown()

  let shared = try HTTPCache.open(.userCaches("com.example.app"))
  let anna = CachedURLSession(cache: shared, partition: "anna")
  print(anna.partition)
  try await shared.wipe(partition: "anna")

  let film = URLRequest(url: URL(string: "https://www.example.com/film.mp4")!)
  let task = anna.dataTask(with: film) { data, response, error in
    print(data?.count ?? 0, response?.cacheOutcome?.description ?? "", error?.localizedDescription ?? "")
  }
  task.resume()
  task.suspend()
  task.progress.resume()
  print(task.state, task.metrics.countOfBytesReceived, task.metrics.cacheOutcome?.description ?? "")

  let unstored = LoadOptions(willStore: StoringHook { _, _ in nil }, priority: .high)
  let (secret, _) = try await anna.data(for: film, options: unstored)
  let metered = LoadOptions(onMetrics: { print($0.duration, $0.countOfBytesFromCache, $0.countOfBytesFromOrigin) })
  _ = try await anna.data(for: film, options: metered)

  print(secret.count, try anna.explain(film), try anna.refusals(of: film))
  if let (known, response) = anna.peek(film) { print(known.count, response.cacheOutcome?.description ?? "") }
  try await anna.remove(film)

  for result in await anna.prefetch([film], priority: .low).value {
    switch result {
    case .success(let outcome): print(outcome)
    case .failure(let error): print(error.localizedDescription)
    }
  }

  let screen = Task {
    for try await case .stored(let data, _) in try anna.watch(film) { print("show", data.count) }
  }
  screen.cancel()

  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let configuration = URLSessionConfiguration.default
  configuration.timeoutIntervalForRequest = 20
  let session = URLSession(configuration: configuration.caching(with: cache))

  let urlCache = HTTPURLCache(memoryCapacity: 10_000_000, diskCapacity: 1_000_000_000, directory: nil)
  let request = URLRequest(url: URL(string: "https://www.example.com/")!)
  let (data, response) = try await session.data(for: request)
  urlCache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: request)
  let found = urlCache.cachedResponse(for: request)

  let caching = URLSession(configuration: .caching(with: urlCache.cache))   // or CachedURLSession(cache: urlCache.cache)
}
