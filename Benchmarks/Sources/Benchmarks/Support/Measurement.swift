import CAllocationCount
import HTTPCacheLibC

/// The cost of a row per operation.
struct Measurement {
  var nanoseconds: Double
  /// nil if allocations cannot be counted.
  var allocations: Double?

  /// Measures in rounds of about a tenth of a second and takes the median round. The time is the processor
  /// time of the thread, so that other programs count as little as possible.
  init(_ row: Row, rounds: Int) {
    var sink = row.run()
    let once = Self.processorTime { sink &+= row.run() }
    let calls = max(1, Int(.milliseconds(100) / max(once, .nanoseconds(50))))
    // The row's own caches are filled now, so the count is that of each call.
    let before = allocation_count()
    for _ in 0..<8 { sink &+= row.run() }
    let allocated = allocation_count() - before
    var times: [Double] = []
    for _ in 0..<max(1, rounds) {
      let time = Self.processorTime { for _ in 0..<calls { sink &+= row.run() } }
      times.append(time / .nanoseconds(1) / Double(calls * row.count))
    }
    times.sort()
    nanoseconds = times[times.count / 2]
    allocations = allocation_count_is_available() == 1 ? Double(allocated) / Double(8 * row.count) : nil
    blackHole(sink)
  }

  private static func processorTime(_ work: () -> Void) -> Duration {
    var start = timespec()
    var end = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    work()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return .seconds(end.tv_sec - start.tv_sec) + .nanoseconds(end.tv_nsec - start.tv_nsec)
  }
}

/// Keeps the optimiser from removing the computation of a value.
@inline(never)
func blackHole(_ value: Int) {
  if value == .min { print("") }
}
