import Dispatch
import HTTPCacheLibC
import Synchronization

/// SIGINT and SIGTERM as a sequence. After the sequence is made, these signals no longer end the process.
enum TerminationSignals {
  /// The signals as they come.
  ///
  /// - Parameters:
  ///   - others: other signals to tell, which then do not end the process either.
  ///   - secondEnds: whether the second SIGINT or SIGTERM ends the process at once, with status 130, even if threads
  ///     are waiting.
  static func stream(others: [Int32] = [], secondEnds: Bool = false) -> AsyncStream<Int32> {
    AsyncStream { continuation in
      let counter = Counter()
      let queue = DispatchQueue(label: "httpcache.signals")
      let sources = ([SIGINT, SIGTERM] + others).map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        let ends = secondEnds && !others.contains(number)
        source.setEventHandler {
          if ends, counter.next() > 1 { _exit(ExitStatus.interrupted.rawValue) }
          continuation.yield(number)
        }
        source.resume()
        return Source(source)
      }
      continuation.onTermination = { _ in for source in sources { source.cancel() } }
    }
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
