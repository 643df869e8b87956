/// The options of a run.
struct TortureOptions {
  /// The seed of all random choices; only timing differs between runs.
  var seed: UInt64 = 20_261_121
  /// Number of kills at random moments.
  var kills = 1_000
  /// Number of damaged directories.
  var corruptions = 10_000
  /// Number of power losses for each durability.
  var powerLosses = 1_000
  /// 1 crashes at each system call, 2 at every other one, and so on.
  var step = 1
  /// Minimum number of runs of each kind of fault; the step gets smaller to reach it.
  static let leastRuns = 20

  /// The step for a number of calls.
  func step(through calls: Int) -> Int { max(1, min(step, calls / Self.leastRuns)) }

  /// The first arguments of child processes.
  var prefix: [String] { isEncrypted ? [TortureStore.argument] : [] }

  /// Whether the store is encrypted.
  let isEncrypted: Bool

  /// Reads arguments; nil if they are invalid.
  init?(_ arguments: [String], isEncrypted: Bool) {
    self.isEncrypted = isEncrypted
    var rest = arguments[...]
    while let name = rest.popFirst() {
      if name == "--short" {
        (kills, corruptions, powerLosses, step) = isEncrypted ? (20, 60, 20, .max) : (40, 120, 25, .max)
        continue
      }
      guard let text = rest.popFirst(), let number = Int(text), number >= 0 else { return nil }
      switch name {
      case "--seed": seed = UInt64(number)
      case "--kills": kills = number
      case "--corruptions": corruptions = number
      case "--power": powerLosses = number
      case "--step": step = max(1, number)
      default: return nil
      }
    }
  }
}
