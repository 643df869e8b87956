// Shows a page that ships with the program, or a newer one of the origin: ShippedContent FOLDER URL
import Foundation
import HTTPCacheArchives
import HTTPCacheURLSession
import HTTPCaching

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) else { exit(64) }
// In an app: seeds: [.bundle("PreCache")]
let shipped = try FolderSeed(path: CommandLine.arguments[1])
let session = CachedURLSession(cache: try .open(.userCaches("com.example.shipped", seeds: [shipped])))
do {
  let (data, response) = try await session.data(from: url)
  print(String(decoding: data, as: UTF8.self), response.cacheOutcome?.description ?? "")
} catch { print("Neither shipped nor loaded: \(error.localizedDescription)") }
await session.cache.flush()
