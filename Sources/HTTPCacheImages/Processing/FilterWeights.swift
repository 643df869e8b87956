#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The weights with which samples of one length make those of another: Lanczos' filter of three lobes, stretched to
/// the step of the source if that is larger than the step of the result.
struct FilterWeights {
  /// The maximum number of weights of one sample.
  private(set) var span = 1
  private var starts: [Int] = []
  private var ends: [Int] = [0]
  private var weights: [Float] = []

  init(from source: Int, to target: Int) {
    let step = Double(source) / Double(target)
    let stretch = max(step, 1)
    for index in 0..<target {
      let center = (Double(index) + 0.5) * step
      let first = max(0, Int(center - 3 * stretch + 0.5))
      let last = min(source, max(first + 1, Int(center + 3 * stretch + 0.5)))
      let values = (first..<last).map { Self.lanczos((Double($0) + 0.5 - center) / stretch) }
      let sum = values.reduce(0, +)
      starts.append(first)
      weights += values.map { Float($0 / sum) }
      ends.append(weights.count)
      span = max(span, values.count)
    }
  }

  /// The samples of the source that make a sample of the result.
  func range(of index: Int) -> Range<Int> {
    starts[index]..<starts[index] + ends[index + 1] - ends[index]
  }

  @inline(__always)
  func withWeights(of index: Int, _ body: (UnsafeBufferPointer<Float>) -> Void) {
    weights.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[ends[index]..<ends[index + 1]])) }
  }

  private static func lanczos(_ x: Double) -> Double {
    let x = abs(x)
    if x < 1e-9 { return 1 }
    if x >= 3 { return 0 }
    return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
  }
}
