/// A cache that evicts the least recently used object, for comparison.
struct SimulatedLRU {
  /// Replays a trace.
  static func replay(_ trace: Trace, capacity: Int64) -> HitRatio {
    var order = EvictionOrder<Int32>()
    var positions = [EvictionOrder<Int32>.Position](repeating: -1, count: trace.sizes.count)
    var used: Int64 = 0
    var hits = 0.0
    var bytes = 0.0
    for (index, number) in trace.requests.enumerated() {
      let size = trace.sizes[Int(number)]
      let time = Double(index)
      if positions[Int(number)] >= 0 {
        hits += 1
        bytes += Double(size)
        order.move(positions[Int(number)], size: size, bucket: 0, priority: time)
        continue
      }
      guard size <= capacity else { continue }
      while used + size > capacity, let victim = order.next(upTo: time, sparing: nil) {
        order.remove(victim.position)
        positions[Int(victim.element)] = -1
        used -= trace.sizes[Int(victim.element)]
      }
      positions[Int(number)] = order.insert(number, size: size, bucket: 0, priority: time)
      used += size
    }
    return HitRatio(hits: hits, bytes: bytes, of: trace)
  }
}
