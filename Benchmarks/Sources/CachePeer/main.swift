// Fresh hits of this package, for scripts/peers.sh: cache-peer ORIGIN FOLDER prints a line
// `name|store|µs of 1 KiB|µs of 1 MiB` for each way to ask. Each hit reads the whole body; the first
// request fills the cache.
import Foundation
import HTTPCacheStore
import HTTPCacheURLSession
import HTTPCaching
import HTTPTypes

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: cache-peer ORIGIN FOLDER")
  exit(2)
}
// Runs outside of the main actor, because each call would change threads to and from it.
try await Task.detached { try await HitRows(origin: arguments[1], folder: arguments[2]).run() }.value

struct HitRows: Sendable {
  let origin: String
  let folder: String

  func run() async throws {
    for (store, memory, disk) in [("memory", Int64(64) << 20, false), ("disk", 0, true)] {
      let cache = try HTTPCache.open(
        HTTPCache.Configuration(
          directory: disk ? folder + "/hits" : nil, memoryCapacity: memory))
      let session = CachedURLSession(cache: cache)
      var engine: [Double] = []
      var door: [Double] = []
      for size in [1_024, 1 << 20] {
        guard let url = URL(string: "\(origin)/size/\(size)/\(store)"), let host = url.host,
          let port = url.port
        else { throw NoTarget() }
        // Fill the cache.
        _ = try await session.data(from: url)
        let request = HTTPRequest(
          method: .get, scheme: "http", authority: "\(host):\(port)", path: url.path)
        engine.append(
          try await measured {
            let response =
              if let response = cache.peek(request) { response } else {
                try await cache.respond(to: request, via: Nowhere())
              }
            guard try await response.body.collect().count == size else { throw WrongLength() }
          })
        door.append(
          try await measured {
            let (data, _) = try await session.data(from: url)
            guard data.count == size else { throw WrongLength() }
          })
      }
      line("this package, engine", store, engine)
      line("this package, CachedURLSession", store, door)
    }
  }

  /// Microseconds of one call, the median of five rounds.
  private func measured(_ call: () async throws -> Void) async rethrows -> Double {
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

  private func line(_ name: String, _ store: String, _ figures: [Double]) {
    print(([name, store] + figures.map { String(format: "%.1f", $0) }).joined(separator: "|"))
  }
}

/// Would be asked on a miss.
struct Nowhere: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "a hit asks nobody")
  }
}

struct WrongLength: Error {}
struct NoTarget: Error {}
