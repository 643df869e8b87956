import Dispatch
import HTTPCacheLibC
import Synchronization

/// SIGINT and SIGTERM as a sequence. Once the sequence is there, these signals no longer end the process; until then they
/// do.
enum TerminationSignals {
  /// The signals as they come; returned once they are watched.
  ///
  /// - Parameters:
  ///   - others: other signals to tell, which then do not end the process either.
  ///   - secondEnds: whether the second SIGINT or SIGTERM ends the process at once, with status 130, even if threads
  ///     are waiting.
  static func stream(others: [Int32] = [], secondEnds: Bool = false) async -> AsyncStream<Int32> {
    let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
    let counter = Counter()
    let queue = DispatchQueue(label: "httpcache.signals")
    let unwatched = DispatchGroup()
    let sources = ([SIGINT, SIGTERM] + others).map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      let ends = secondEnds && !others.contains(number)
      source.setEventHandler {
        if ends, counter.next() > 1 { _exit(ExitStatus.interrupted.rawValue) }
        continuation.yield(number)
      }
      unwatched.enter()
      source.setRegistrationHandler {
        // Not before: a signal that comes between the two would be lost, and the process would run on. On Linux the source
        // itself keeps the signal from ending the process.
        #if canImport(Darwin)
          signal(number, SIG_IGN)
        #endif
        unwatched.leave()
      }
      source.resume()
      return Source(source)
    }
    continuation.onTermination = { _ in for source in sources { source.cancel() } }
    await withCheckedContinuation { isWatched in unwatched.notify(queue: queue) { isWatched.resume() } }
    return signals
  }

  private final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  private final class Source: @unchecked Sendable {
    // @unchecked Sendable because a dispatch source may be cancelled from any thread.
    private let source: any DispatchSourceSignal

    init(_ source: any DispatchSourceSignal) { self.source = source }

    func cancel() { source.cancel() }
  }
}
