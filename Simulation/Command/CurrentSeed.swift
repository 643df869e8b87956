import HTTPCacheLibC
import Synchronization

/// The seed that is simulated, for the case that the process crashes.
enum CurrentSeed {
  static let value = Atomic<UInt64>(0)

  /// Prints the seed on standard error if the process traps.
  static func tellWhenTrapped() {
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT] {
      signal(number) { number in
        // Async-signal-safe: the digits are made on the stack.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { buffer in
          var (rest, start) = (CurrentSeed.value.load(ordering: .relaxed), 24)
          start -= 1
          buffer[start] = 10
          repeat {
            start -= 1
            buffer[start] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
          } while rest > 0
          let text: StaticString = "CRASHED: seed "
          _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
          _ = write(2, buffer.baseAddress.map { $0 + start }, 24 - start)
        }
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }
}
