/// One line of a table: a name and what is repeated.
struct Row {
  /// What `--row` and the file of thresholds call it.
  let name: String
  /// How many things one call does; figures are per thing.
  let count: Int
  /// Does them, and returns something that depends on all of them, so that nothing is optimised away.
  let run: () -> Int

  init(_ name: String, count: Int = 1, run: @escaping () -> Int) {
    self.name = name
    self.count = count
    self.run = run
  }
}
