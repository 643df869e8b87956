import HTTPCacheSimulation
import Synchronization

/// Simulates many worlds and counts the violations.
struct Races {
  /// Violations that are counted together.
  private struct Sort: Hashable, CustomStringConvertible {
    let kind: Violation.Kind
    let circumstances: String

    var description: String { "\(kind.rawValue) (\(circumstances))" }
  }

  // Maximum number of printed violations of each kind.
  private static let mostShown = 3

  private let options: Options
  private let clock = ContinuousClock()

  init(_ options: Options) { self.options = options }

  private func simulate(_ seed: UInt64, keepsNotes: Bool) -> Simulation.Result {
    Simulation.run(
      seed: seed, scenario: options.scenario, fleet: options.fleet, keepsNotes: keepsNotes)
  }

  /// Runs worlds until there have been enough of them.
  ///
  /// - Returns: whether no rule was broken, except the allowed ones.
  func run() -> Bool {
    let start = clock.now
    let end = options.count == nil ? start + .seconds(options.seconds) : nil
    var found: [Sort: (count: Int, seed: UInt64, steps: Int)] = [:]
    var (worlds, steps) = (0, 0)
    while worlds < options.count ?? .max, end.map({ clock.now < $0 }) ?? true {
      let seed = options.seed &+ UInt64(worlds)
      CurrentSeed.value.store(seed, ordering: .relaxed)
      let result = simulate(seed, keepsNotes: options.traces)
      worlds += 1
      steps += result.steps
      for note in result.notes { print(note) }
      if options.printsDigests { print("seed \(seed): \(result.steps) steps, digest \(result.digest)") }
      for violation in result.violations {
        let sort = Sort(kind: violation.kind, circumstances: violation.circumstances)
        let before = found[sort]
        if before?.count ?? 0 < Self.mostShown { print("seed \(seed), \(result.steps) steps: \(violation)") }
        let isShorter = result.steps < before?.steps ?? .max
        found[sort] = (
          (before?.count ?? 0) + 1, isShorter ? seed : before?.seed ?? seed,
          min(result.steps, before?.steps ?? .max)
        )
      }
      if options.stopsAtFirst, !found.isEmpty { break }
      // Run every hundredth world twice: a seed must repeat its steps.
      if worlds % 100 == 1 {
        let again = simulate(seed, keepsNotes: false)
        if again.digest != result.digest {
          print("seed \(seed) made other steps the second time")
          return false
        }
      }
    }
    return tell(found, worlds: worlds, steps: steps, took: clock.now - start)
  }

  private func tell(
    _ found: [Sort: (count: Int, seed: UInt64, steps: Int)], worlds: Int, steps: Int, took: Duration
  ) -> Bool {
    let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
    for (sort, value) in found.sorted(by: { $0.key.description < $1.key.description }) {
      let note = options.allowed.contains(sort.kind) ? "allowed" : "WRONG"
      print(
        "\(note): \(sort): \(value.count) times; shortest with --seed \(value.seed), \(value.steps) steps"
      )
    }
    let wrong = found.filter { !options.allowed.contains($0.key.kind) }.reduce(0) { $0 + $1.value.count }
    print(
      "\(worlds) interleavings from seed \(options.seed), \(steps) steps, \(Int(seconds)) s, "
        + "\(Int(Double(worlds) / max(seconds, 0.001))) a second: \(wrong) violations")
    return wrong == 0
  }
}
