// Fresh hits of this package, for scripts/peers.sh: cache-peer ORIGIN FOLDER prints a line
// `name|store|µs of 1 KiB|µs of 1 MiB` for each way to ask. Each hit reads the whole body; the first
// request fills the cache.
import Foundation
import HTTPCacheStore
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct WrongLength: Error {}
struct NoTarget: Error {}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: cache-peer ORIGIN FOLDER")
  exit(2)
}
let sizes = [1_024, 1 << 20]

func cache(_ name: String, memory: Int64, disk: Bool) throws -> HTTPCache {
  try HTTPCache.open(
    HTTPCache.Configuration(
      directory: disk ? arguments[2] + "/" + name : nil, memoryCapacity: memory))
}

func session(_ name: String, memory: Int64, disk: Bool) throws -> CachedURLSession {
  CachedURLSession(cache: try cache(name, memory: memory, disk: disk))
}

/// Microseconds of one call, the median of five rounds.
func measured(_ call: () async throws -> Void) async rethrows -> Double {
  let clock = ContinuousClock()
  try await call()
  let once = try await clock.measure { try await call() }
  let calls = max(3, Int(.milliseconds(120) / max(once, .nanoseconds(500))))
  var rounds: [Double] = []
  for _ in 0..<5 {
    let time = try await clock.measure { for _ in 0..<calls { try await call() } }
    rounds.append(time / .microseconds(1) / Double(calls))
  }
  return rounds.sorted()[2]
}

func line(_ name: String, _ store: String, _ figures: [Double]) {
  print(([name, store] + figures.map { String(format: "%.1f", $0) }).joined(separator: "|"))
}

for (store, memory, disk) in [("memory", Int64(64) << 20, false), ("disk", 0, true)] {
  let session = try session("hits-" + store, memory: memory, disk: disk)
  let cache = session.cache
  var figures: (engine: [Double], session: [Double]) = ([], [])
  for size in sizes {
    guard let url = URL(string: "\(arguments[1])/size/\(size)/\(store)"), let host = url.host,
      let port = url.port
    else { throw NoTarget() }
    // Fills.
    _ = try await session.data(from: url)
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: "\(host):\(port)", path: url.path)
    let nowhere = Nowhere()
    figures.engine.append(
      try await measured {
        let response =
          if let response = cache.peek(request) { response } else {
            try await cache.respond(to: request, via: nowhere)
          }
        guard try await response.body.collect().count == size else { throw WrongLength() }
      })
    figures.session.append(
      try await measured {
        let (data, _) = try await session.data(from: url)
        guard data.count == size else { throw WrongLength() }
      })
  }
  line("this package, engine", store, figures.engine)
  line("this package, CachedURLSession", store, figures.session)
}

/// Would be asked on a miss.
struct Nowhere: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "a hit asks nobody")
  }
}
