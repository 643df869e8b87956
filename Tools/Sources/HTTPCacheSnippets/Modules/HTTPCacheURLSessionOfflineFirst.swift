// The Swift of Sources/HTTPCacheURLSession/HTTPCacheURLSession.docc/OfflineFirst.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  struct Account: Codable, Sendable {
    var name: String
    var balance: Int
  }

  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let session = CachedURLSession(cache: cache)
  let request = URLRequest(url: URL(string: "https://api.example.com/accounts")!)

  let accounts = try await session.value(
    of: [Account].self, for: request, cachePolicy: .networkElseCache())
  print(accounts.value.map(\.name))
  if let date = accounts.date {
    print("No connection. As of \(date).")
  }

  let (data, response) = try await session.data(
    for: request, cachePolicy: .networkElseCache(maxStale: .seconds(86_400), onStatus: [502, 503, 504]))
  print(data.count, "bytes,", response.cacheOutcome?.description ?? "")

  for try await update in try session.responses(to: request) {
    switch update {
    case .response(let data, let response):
      print(data.count, "bytes,", response.cacheOutcome?.description ?? "")
    case .failure(let error):
      print("perhaps out of date:", error.localizedDescription)
    }
  }

  cache.isOffline = true

  final class Signal: ConnectivitySignal {
    var isConnected: Bool { true }  // on Apple's systems: what NWPathMonitor says
  }
  let watched = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", connectivity: Signal()))

  var rules = CacheRules()
  rules.overrides = [RuleOverride(try .glob("/help/**"), effects: [.pin])]
}
