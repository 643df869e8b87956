import Dispatch
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Synchronization
import Testing

private let isCaller = DispatchSpecificKey<Bool>()

@Suite("Where the work of a request runs", .timeLimit(.minutes(10)))
struct CallerIsolationTests {
  /// Notes whether the engine asks the origin, and tells the observer, on the queue of the caller.
  private final class Places: CacheObserver {
    let onCaller = Mutex<[Bool]>([])

    func note() {
      let isOnCaller = DispatchQueue.getSpecific(key: isCaller) ?? false
      onCaller.withLock { $0.append(isOnCaller) }
    }

    func observe(_ event: CacheEvent) { note() }
  }

  private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "caller")

    init() { queue.setSpecific(key: isCaller, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  /// Makes requests as the main actor of an app does, on a queue of its own.
  private actor Caller {
    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func ask(_ cache: HTTPCache, via upstream: ScriptedUpstream) async throws {
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
      #expect(DispatchQueue.getSpecific(key: isCaller) == true)
      let response = try await cache.respond(to: request, via: upstream)
      #expect(try await response.body.collect().count == 4)
      try await cache.remove(.all)
      #expect(DispatchQueue.getSpecific(key: isCaller) == true)
    }
  }

  @Test("nothing of a request runs on the actor that makes it")
  func offTheCaller() async throws {
    let places = Places()
    let upstream = ScriptedUpstream { _ in
      places.note()
      return ScriptedResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: "body")
    }
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(observer: places), store: MemoryStore(capacity: 1 << 20))
    try await Caller().ask(cache, via: upstream)
    let onCaller = places.onCaller.withLock { $0 }
    #expect(onCaller.count > 2 && !onCaller.contains(true))
  }
}
