// Downloads files, several at a time, and goes on after Ctrl-C or a crash: Downloads FOLDER URL...
import Foundation
import HTTPCacheDownloads
import HTTPCacheURLSession
import HTTPCaching

let arguments = CommandLine.arguments.dropFirst()
guard let first = arguments.first, arguments.count > 1 else {
  print("usage: Downloads FOLDER URL...")
  exit(64)
}
let folder = URL(fileURLWithPath: first)
var settings = HTTPCache.Configuration.userCaches("com.example.download-queue")
settings.largestEntry = .share(1)
let cache = try HTTPCache.open(settings)
let queue = try DownloadQueue(name: "example", cache: cache, upstream: URLSessionUpstream())
for note in queue.openingNotes { print(note) }

// The list already has the downloads of an earlier run. Adding a finished URL again validates the file.
for text in arguments.dropFirst() {
  let name = URL(string: text)?.lastPathComponent ?? ""
  try queue.add(Download(text, to: folder.appendingPathComponent(name.isEmpty ? "index" : name).path))
}

// Old states are dropped, so printing never holds up the transfers.
for await all in queue.summaries() {
  if let fraction = all.fraction {
    let rate = ByteCountFormatter.string(fromByteCount: Int64(all.rate), countStyle: .file)
    print("\(Int(fraction * 100)) %, \(all.running) running, \(rate)/s")
  }
  if all.waiting + all.running == 0 { break }
}
var isComplete = true
for status in queue.downloads {
  switch status.state {
  case .done(.fetched): print("\(status.download.url): downloaded")
  case .done(.validated), .done(.destination): print("\(status.download.url): not changed")
  case .done(.cache): print("\(status.download.url): from the cache")
  case let state:
    print("\(status.download.url): \(state)")
    isComplete = false
  }
}
await queue.close()
await cache.flush()
exit(isComplete ? 0 : 1)
