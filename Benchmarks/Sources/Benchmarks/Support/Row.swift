/// One line of a table: a name and the code that is repeated.
struct Row {
  /// The name for `--row` and the file of thresholds.
  let name: String
  /// The number of operations of one call; figures are per operation.
  let count: Int
  /// Whether it is a peer, for comparison: it has a time and no threshold.
  let isPeer: Bool
  /// Performs the operations, and returns a value that depends on all of them, so that none is optimised away.
  let run: () -> Int

  init(_ name: String, count: Int = 1, isPeer: Bool = false, run: @escaping () -> Int) {
    self.name = name
    self.count = count
    self.isPeer = isPeer
    self.run = run
  }
}
