import HTTPCacheLibC

/// The waiting time of callers for one kind of operation, and its processor time on all threads.
struct Timings {
  private(set) var waits: [Int] = []
  private var processor = 0

  /// Measures each of some operations, and all of them together. Background work, such as a checkpoint, counts as far
  /// as it is done at the end.
  mutating func measure(_ count: Int, _ operation: (Int) async throws -> Void) async rethrows {
    let before = Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    for index in 0..<count {
      let start = Self.nanoseconds(CLOCK_MONOTONIC)
      try await operation(index)
      waits.append(Self.nanoseconds(CLOCK_MONOTONIC) - start)
    }
    processor += Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before
  }

  mutating func measure(_ count: Int, _ operation: (Int) throws -> Void) rethrows {
    let before = Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    for index in 0..<count {
      let start = Self.nanoseconds(CLOCK_MONOTONIC)
      try operation(index)
      waits.append(Self.nanoseconds(CLOCK_MONOTONIC) - start)
    }
    processor += Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before
  }

  /// In microseconds.
  var median: Double { waits.isEmpty ? 0 : Double(waits.sorted()[waits.count / 2]) / 1_000 }
  /// In microseconds.
  var mean: Double { Double(waits.reduce(0, +)) / 1_000 / Double(max(1, waits.count)) }
  /// Processor time of all threads for one operation, in microseconds.
  var processorMean: Double { Double(processor) / 1_000 / Double(max(1, waits.count)) }

  private static func nanoseconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
