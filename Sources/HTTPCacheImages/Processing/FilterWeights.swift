import HTTPCacheLibC

/// The weights with which samples of one length make those of another: a filter, stretched to the step of the source
/// if that is larger than the step of the result.
struct FilterWeights {
  /// The shape of a filter.
  enum Filter {
    /// Three lobes. Keeps the most detail of a reduced image, and rings at hard edges.
    case lanczos
    /// Mitchell and Netravali's cubic filter. Hardly rings: for enlarged images, and for edges of transparency.
    case mitchell

    var radius: Double { self == .lanczos ? 3 : 2 }

    func callAsFunction(_ x: Double) -> Double {
      let x = abs(x)
      switch self {
      case .lanczos:
        if x < 1e-9 { return 1 }
        return x < 3 ? 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x) : 0
      case .mitchell:
        if x < 1 { return (7 * x * x * x - 12 * x * x + 16 / 3) / 6 }
        return x < 2 ? (-7 / 3 * x * x * x + 12 * x * x - 20 * x + 32 / 3) / 6 : 0
      }
    }
  }

  /// The maximum number of weights of one sample.
  private(set) var span = 1
  private var starts: [Int] = []
  private var ends: [Int] = [0]
  private var weights: [Float] = []

  init(_ filter: Filter, from source: Int, to target: Int) {
    let step = Double(source) / Double(target)
    let stretch = max(step, 1)
    for index in 0..<target {
      let center = (Double(index) + 0.5) * step
      let first = max(0, Int(center - filter.radius * stretch + 0.5))
      let last = min(source, max(first + 1, Int(center + filter.radius * stretch + 0.5)))
      let values = (first..<last).map { filter((Double($0) + 0.5 - center) / stretch) }
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
  func withWeights<Result>(of index: Int, _ body: (UnsafeBufferPointer<Float>) -> Result) -> Result {
    weights.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[ends[index]..<ends[index + 1]])) }
  }
}
