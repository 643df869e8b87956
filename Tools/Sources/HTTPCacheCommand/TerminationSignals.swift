import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// SIGINT and SIGTERM as a sequence; they end the process no more once it is made.
enum TerminationSignals {
  /// The signals as they come.
  static func stream() -> AsyncStream<Int32> {
    AsyncStream { continuation in
      let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { continuation.yield(number) }
        source.resume()
        return Source(source)
      }
      continuation.onTermination = { _ in for source in sources { source.cancel() } }
    }
  }

  private final class Source: @unchecked Sendable {
    // @unchecked Sendable because a dispatch source may be cancelled from any thread.
    private let source: any DispatchSourceSignal

    init(_ source: any DispatchSourceSignal) { self.source = source }

    func cancel() { source.cancel() }
  }
}
