/// The results, as rows of a table.
struct Table {
  static let head = """
    | trace | size | LRU | bound | exponent 1 | gap closed | exponent 0.5 | gap closed | ns |
    |---|---:|---:|---:|---:|---:|---:|---:|---:|
    """

  private struct Cell {
    let hasSizes: Bool
    let memory: HitRatio
    let disk: HitRatio
    let nanoseconds: Double
  }

  private var cells: [Cell] = []

  /// Replays a trace with a cache of a share of its footprint.
  ///
  /// - Returns: the row of the table, "requests / bytes" in per cent.
  mutating func row(of trace: Trace, share: Double) -> String {
    let capacity = Int64(Double(trace.footprint) * share)
    let low = SimulatedLRU.replay(trace, capacity: capacity)
    let high = bound(of: trace, capacity: capacity)
    let memory = SimulatedCache.replay(trace, capacity: capacity, exponent: 1)
    // The best of three: other work of the machine can only add time.
    let again = (0..<2).map { _ in
      SimulatedCache.replay(trace, capacity: capacity, exponent: 1).nanoseconds
    }
    let nanoseconds = min(memory.nanoseconds, again.min() ?? .infinity)
    let disk = SimulatedCache.replay(trace, capacity: capacity, exponent: 0.5)
    let cell = Cell(
      hasSizes: trace.hasSizes, memory: memory.ratio.gapClosed(from: low, to: high),
      disk: disk.ratio.gapClosed(from: low, to: high), nanoseconds: nanoseconds)
    cells.append(cell)
    let columns = [
      trace.name, Self.perCent(share) + " %", Self.text(low), Self.text(high), Self.text(memory.ratio),
      Self.text(cell.memory), Self.text(disk.ratio), Self.text(cell.disk),
      "\(Int(nanoseconds.rounded()))",
    ]
    return "| " + columns.joined(separator: " | ") + " |"
  }

  /// The means over traces with sizes, and over those without.
  var means: String {
    var lines: [String] = []
    for hasSizes in [true, false] {
      let cells = cells.filter { $0.hasSizes == hasSizes }
      guard !cells.isEmpty else { continue }
      let time = cells.reduce(0) { $0 + $1.nanoseconds } / Double(cells.count)
      lines.append(
        """
        mean gap closed, \(cells.count) cells \(hasSizes ? "with" : "without") sizes: \
        exponent 1 \(Self.text(.mean(cells.map(\.memory)))), \
        exponent 0.5 \(Self.text(.mean(cells.map(\.disk)))); \(Int(time.rounded())) ns
        """)
    }
    return lines.joined(separator: "\n")
  }

  /// Whether the means over the traces with sizes reach their targets.
  var isEnough: Bool {
    let cells = cells.filter(\.hasSizes)
    let memory = HitRatio.mean(cells.map(\.memory))
    let disk = HitRatio.mean(cells.map(\.disk))
    let time = cells.reduce(0) { $0 + $1.nanoseconds } / Double(max(1, cells.count))
    return memory.requests >= 0.54 && disk.requests >= 0.45 && disk.bytes >= 0.19 && time <= 200
  }

  private static func text(_ ratio: HitRatio) -> String {
    "\(perCent(ratio.requests)) / \(perCent(ratio.bytes))"
  }

  private static func perCent(_ share: Double) -> String {
    let tenths = Int((share * 1_000).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
