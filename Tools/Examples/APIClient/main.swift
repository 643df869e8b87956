// Requests from an API that limits requests but does not count its 304 responses, as GitHub's API does:
// APIClient BASE-URL OWNER/REPOSITORY...
import Foundation
import HTTPCacheURLSession
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Repository: Decodable, Sendable {
  let name: String
  let stars: Int
}

struct RepositoryClient: Sendable {
  let base: URL
  let session: CachedURLSession

  /// The repository as it is now, and how many requests the API still allows.
  func repository(_ name: String) async throws -> (Repository, remaining: Int?, FetchType?) {
    var request = URLRequest(url: base.appending(path: "repos/\(name)"))
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    // The API's own lifetime would be enough; this validates every time, and pays only for changes.
    let (data, response) = try await session.data(for: request, cachePolicy: .revalidate)
    let fields = response as? HTTPURLResponse
    let remaining = fields?.value(forHTTPHeaderField: "X-RateLimit-Remaining").flatMap { Int($0) }
    return (
      try JSONDecoder().decode(Repository.self, from: data), remaining,
      response.cacheOutcome?.fetchType
    )
  }
}

guard CommandLine.arguments.count > 2, let base = URL(string: CommandLine.arguments[1]) else {
  print("usage: APIClient BASE-URL OWNER/REPOSITORY...")
  exit(64)
}
let cache = try HTTPCache.open(.userCaches("com.example.repositories"))
let client = RepositoryClient(base: base, session: CachedURLSession(cache: cache))
for name in CommandLine.arguments.dropFirst(2) {
  let (repository, remaining, fetch) = try await client.repository(name)
  let source = fetch == .validated ? "not changed, not counted" : "loaded"
  print("\(repository.name): \(repository.stars) stars (\(source); \(remaining ?? 0) requests left)")
}
await cache.flush()
