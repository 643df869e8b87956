/// One line of a table: a name and what is repeated.
struct Row {
  /// What `--row` and the file of thresholds call it.
  let name: String
  /// How many things one call does; figures are per thing.
  let count: Int
  /// Whether it is another's, to compare with: it has a time and nothing that is kept below a threshold.
  let isPeer: Bool
  /// Does them, and returns something that depends on all of them, so that nothing is optimised away.
  let run: () -> Int

  init(_ name: String, count: Int = 1, isPeer: Bool = false, run: @escaping () -> Int) {
    self.name = name
    self.count = count
    self.isPeer = isPeer
    self.run = run
  }
}
