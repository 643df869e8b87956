// Shows the news; without a network, the stored news of the last time: OfflineNews URL
import Foundation
import HTTPCacheURLSession
import HTTPCaching

struct Article: Decodable, Sendable { let title, summary: String }

guard let url = URL(string: CommandLine.arguments.last ?? "") else { exit(64) }
let session = CachedURLSession(cache: try .open(.userCaches("com.example.news")))
do {
  let news = try await session.value(of: [Article].self, from: url, cachePolicy: .networkElseCache())
  if let date = news.date { print("No connection. These are the news of \(date.formatted(.iso8601)).") }
  for article in news.value { print("* \(article.title)\n  \(article.summary)") }
} catch { print("No connection, and no news from earlier: \(error.localizedDescription)") }
await session.cache.flush()
