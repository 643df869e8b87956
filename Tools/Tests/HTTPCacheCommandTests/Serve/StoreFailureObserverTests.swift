import HTTPCacheProxy
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheCommand

@Suite("serve says that its store fails", .timeLimit(.minutes(10)))
struct StoreFailureObserverTests {
  @Test("once a minute for each operation, and nothing else")
  func onceAMinute() {
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let lines = Mutex<[String]>([])
    let observer = StoreFailureObserver(clock: clock, hasMemory: true) { line in
      lines.withLock { $0.append(line) }
    }
    let full = CacheError(.noSpace, "no room")
    observer.observe(.notStored(target: "https://a.b/", .storeFailed))
    for _ in 0..<100 { observer.observe(.storeFailed(operation: "store", full)) }
    #expect(lines.withLock { $0.count } == 1)
    observer.observe(.storeFailed(operation: "read", full))
    #expect(lines.withLock { $0.count } == 2)
    clock.advance(by: .seconds(60))
    observer.observe(.storeFailed(operation: "store", full))
    #expect(lines.withLock { $0.count } == 3)
    #expect(lines.withLock { $0.last?.contains("no room") } == true)
  }

  @Test(
    "where responses are stored while the directory fails; a failure to read says nothing of it",
    arguments: [
      ("open", true, "; responses are stored in memory only"), ("open", false, "; responses are not stored"),
      ("write", true, "; responses are stored in memory only"), ("store", true, "; responses are not stored"),
      ("read", true, ""), ("invalidate", false, ""),
    ])
  func consequence(operation: String, hasMemory: Bool, text: String) {
    let lines = Mutex<[String]>([])
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let observer = StoreFailureObserver(clock: clock, hasMemory: hasMemory) { line in
      lines.withLock { $0.append(line) }
    }
    observer.observe(.storeFailed(operation: operation, CacheError(.io, "broken")))
    #expect(
      lines.withLock { $0 } == ["cache storage error (\(operation): input/output error: broken)\(text)"])
  }

  @Test(
    "an entry that was evicted or damaged meanwhile is no error of the storage, and is not counted as one")
  func oneEntry() {
    let lines = Mutex<[String]>([])
    let counts = EventCounts(
      next: StoreFailureObserver(clock: ManualClock(now: Timestamp(seconds: 0)), hasMemory: true) { line in
        lines.withLock { $0.append(line) }
      })
    counts.observe(.storeFailed(operation: "read body", CacheError(.unavailable, "evicted")))
    counts.observe(.storeFailed(operation: "open body", CacheError(.unavailable, "evicted")))
    counts.observe(.storeFailed(operation: "extend", CacheError(.superseded, "replaced")))
    counts.observe(.storeFailed(operation: "store", CacheError(.unavailable, "the part is gone")))
    #expect(lines.withLock { $0.isEmpty })
    counts.observe(.storeFailed(operation: "read body", CacheError(.damaged, "block 7")))
    counts.observe(.storeFailed(operation: "open body", CacheError(.damaged, "too short")))
    let told = lines.withLock { $0 }
    #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("a stored response is damaged") })
    var text = PrometheusText()
    counts.add(to: &text)
    #expect(!text.text.contains("operation="))
    counts.observe(.storeFailed(operation: "open body", CacheError(.io, "too many open files")))
    counts.observe(.storeFailed(operation: "store", CacheError(.noSpace, "full")))
    text = PrometheusText()
    counts.add(to: &text)
    #expect(text.text.contains("httpcache_store_errors_total{operation=\"open body\"} 1"))
    #expect(text.text.contains("httpcache_store_errors_total{operation=\"store\"} 1"))
    #expect(lines.withLock { $0.last?.hasPrefix("cache storage error (store: ") } == true)
  }
}
