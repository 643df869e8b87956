/// A cache without bodies: the policy and the order of `MemoryStore` (the source files themselves, see Package.swift),
/// called as `MemoryStore` calls them.
struct SimulatedCache {
  private let capacity: Int64
  private var policy: EvictionPolicy
  private var order = EvictionOrder<Int32>()
  private var positions: [EvictionOrder<Int32>.Position]
  private var used: Int64 = 0

  init(capacity: Int64, exponent: Double, objects: Int) {
    self.capacity = capacity
    policy = EvictionPolicy(exponent: exponent)
    positions = [EvictionOrder<Int32>.Position](repeating: -1, count: objects)
  }

  /// Replays a trace.
  ///
  /// - Returns: the hit ratio, and the processor time of a request in nanoseconds.
  static func replay(
    _ trace: Trace, capacity: Int64, exponent: Double
  ) -> (ratio: HitRatio, nanoseconds: Double) {
    var cache = SimulatedCache(
      capacity: capacity, exponent: exponent, objects: trace.sizes.count)
    var hits = 0.0
    var bytes = 0.0
    let start = processorTime()
    for number in trace.requests {
      let size = trace.sizes[Int(number)]
      guard cache.request(number, sizes: trace.sizes, size: size) else { continue }
      hits += 1
      bytes += Double(size)
    }
    let time = Double(processorTime() - start) / Double(trace.requests.count)
    return (HitRatio(hits: hits, bytes: bytes, of: trace), time)
  }

  // Looks an object up, and stores it after a miss.
  private mutating func request(_ number: Int32, sizes: [Int64], size: Int64) -> Bool {
    let hash = Self.hash(number)
    policy.recordUse(hash: hash)
    let bucket = policy.bucket(frequency: policy.frequency(of: hash), size: size)
    let position = positions[Int(number)]
    if position >= 0 {
      order.move(position, size: size, bucket: bucket, priority: policy.priority(bucket: bucket))
      return true
    }
    guard size <= capacity else { return false }
    let bound = policy.priority(bucket: bucket)
    let need = used + size - capacity
    if need > 0, order.bytes(upTo: bound, need: need, sparing: nil) < need {
      policy.evicted(priority: bound)
      return false
    }
    while used + size > capacity, let victim = order.next(upTo: bound, sparing: nil) {
      order.remove(victim.position)
      positions[Int(victim.element)] = -1
      used -= sizes[Int(victim.element)]
      policy.evicted(priority: victim.priority)
    }
    positions[Int(number)] = order.insert(number, size: size, bucket: bucket, priority: bound)
    used += size
    policy.expect(entries: order.count)
    return false
  }

  // The stores use well distributed hashes as keys.
  private static func hash(_ number: Int32) -> UInt64 {
    var value = UInt64(truncatingIfNeeded: number) &+ 0x9E37_79B9_7F4A_7C15
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
