// The Swift of docs/downloads.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheDownloads
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(
      directory: "/var/cache/films", diskCapacity: 64 << 30, largestEntry: .share(1)))
  var settings = DownloadQueue.Configuration()
  settings.totalLimit = 4
  settings.perHostLimit = 2
  let queue = try DownloadQueue(
    name: "films", cache: cache, upstream: URLSessionUpstream(), configuration: settings)
  let id = try queue.add(Download("https://example.com/film.mp4", to: "/srv/films/film.mp4"))
  for await status in queue.updates(of: id) {
    print(status.state, status.fraction ?? 0, status.rate, status.timeLeft ?? .zero)
    if status.state.isEnded { break }
  }

  queue.setRateLimit(2 << 20)
  queue.setLimits(total: 2)
  queue.setPriority(1, of: id)
  queue.pause(id)
  queue.resume(id)
  let all = queue.summary
  print(all.running, all.received, all.expected, all.rate)
  await queue.close()

  let progress = queue.progress(of: id)
  progress.pause()
}
