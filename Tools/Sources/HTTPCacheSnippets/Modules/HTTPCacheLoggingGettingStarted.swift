// The Swift of Sources/HTTPCacheLogging/HTTPCacheLogging.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheLogging
import HTTPCaching
import Logging

private func program1() async throws {
  var logger = Logger(label: "cache")
  logger.logLevel = .debug
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "cache", observer: LoggingObserver(logger)))
  print(cache.usage.diskBytes)

  let loud = LoggingObserver(logger, showsQueries: true) { event in
    if case .notStored = event { return .notice }
    return LoggingObserver.level(of: event)
  }
  print(loud)
}
