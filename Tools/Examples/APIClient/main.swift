// Requests from an API that does not count its 304 responses, as GitHub's does: APIClient BASE-URL OWNER/REPOSITORY...
import Foundation
import HTTPCacheURLSession
import HTTPCaching

struct Repository: Decodable, Sendable { let name: String, stars: Int }

guard CommandLine.arguments.count > 2, let base = URL(string: CommandLine.arguments[1]) else { exit(64) }
let session = CachedURLSession(cache: try .open(.userCaches("com.example.repositories")))
for name in CommandLine.arguments.dropFirst(2) {
  // The API's own lifetime would be enough; this validates every time, and pays only for changes.
  let url = base.appending(path: "repos/\(name)")
  let found = try await session.value(of: Repository.self, from: url, cachePolicy: .revalidate)
  let source = found.response.cacheOutcome?.fetchType == .validated ? "not changed, not counted" : "loaded"
  let left = (found.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-RateLimit-Remaining") ?? "?"
  print("\(found.value.name): \(found.value.stars) stars (\(source); \(left) requests left)")
}
await session.cache.flush()
