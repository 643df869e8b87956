// Keeps a large file up to date: LargeFile URL DESTINATION
import Foundation
import HTTPCacheURLSession
import HTTPCaching
import Synchronization

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: LargeFile URL DESTINATION")
  exit(64)
}
let destination = URL(fileURLWithPath: CommandLine.arguments[2])
let cache = try HTTPCache.open(.userCaches("com.example.downloads"))
let session = CachedURLSession(cache: cache)
do {
  // The destination changes only when the file is complete. A download that broke off earlier continues.
  let tenths = Mutex(0)
  let response = try await session.download(for: URLRequest(url: url), to: destination) { progress in
    let now = Int((progress.fraction ?? 0) * 10)
    let isNews = tenths.withLock { tenths in
      defer { tenths = now }
      return now > tenths
    }
    if isNews { print("\(now * 10) %") }
  }
  switch response.cacheOutcome?.fetchType {
  case .networkLoad: print("Downloaded.")
  case .validated: print("The origin says that it has not changed.")
  case .localCache: print("From the cache, without asking the origin.")
  case nil: print("Not over HTTP.")
  }
} catch let error as URLError {
  print("Not there: \(error.localizedDescription). The destination is as it was.")
  exit(1)
}
await cache.flush()
