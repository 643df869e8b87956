/// The bound that no policy can exceed. A hit on an object takes its size times the number of requests since
/// its last request, out of all byte-requests that a cache has. That is a knapsack, filled with the cheapest
/// hits; the last one in part.
func bound(of trace: Trace, capacity: Int64) -> HitRatio {
  var last = [Int](repeating: -1, count: trace.sizes.count)
  var uses: [(size: Double, distance: Double)] = []
  for (index, number) in trace.requests.enumerated() {
    let number = Int(number)
    if last[number] >= 0, trace.sizes[number] <= capacity {
      uses.append((Double(trace.sizes[number]), Double(index - last[number])))
    }
    last[number] = index
  }
  let space = Double(capacity) * Double(trace.requests.count)

  func filled(by value: (Double) -> Double) -> Double {
    var left = space
    var sum = 0.0
    for use in uses {
      let cost = use.size * use.distance
      guard cost <= left else { return sum + value(use.size) * left / cost }
      left -= cost
      sum += value(use.size)
    }
    return sum
  }

  uses.sort { $0.size * $0.distance < $1.size * $1.distance }
  let hits = filled { _ in 1 }
  uses.sort { $0.distance < $1.distance }
  return HitRatio(hits: hits, bytes: filled { $0 }, of: trace)
}
