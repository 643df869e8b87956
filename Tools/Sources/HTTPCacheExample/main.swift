import Foundation
import HTTPCacheURLSession
import HTTPCaching

let cache = try HTTPCache.open(.userCaches("com.example.app"))
let session = CachedURLSession(cache: cache)

let address = CommandLine.arguments.dropFirst().first ?? "https://www.example.com/"
guard let url = URL(string: address) else { exit(64) }
do {
  for _ in 1...2 {
    let (data, response) = try await session.data(from: url)
    print(data.count, "bytes,", response.cacheOutcome?.description ?? "not cached")
  }
} catch {
  print("\(address): \(error.localizedDescription)")
}
await cache.flush()
