// Shows the news; without a network, the stored news of the last time: OfflineNews URL
import Foundation
import HTTPCacheURLSession
import HTTPCaching

struct Article: Decodable, Sendable {
  let title: String
  let summary: String
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: OfflineNews URL")
  exit(64)
}
let cache = try HTTPCache.open(.userCaches("com.example.news"))
let session = CachedURLSession(cache: cache)
do {
  let news = try await session.value(
    of: [Article].self, from: url, cachePolicy: .networkElseCache())
  if let date = news.date {
    print("No connection. These are the news of \(date.formatted(.iso8601)).")
  }
  for article in news.value { print("* \(article.title)\n  \(article.summary)") }
} catch let error as URLError {
  print("No connection, and no news from earlier: \(error.localizedDescription)")
  exit(1)
}
await cache.flush()
