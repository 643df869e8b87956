/// What the torture is to do.
struct TortureOptions {
  /// Determines everything that is not left to time.
  var seed: UInt64 = 20_261_121
  /// How often a process is killed at a random moment.
  var kills = 1_000
  /// How many directories are damaged.
  var corruptions = 10_000
  /// How many times the power is lost, for each durability.
  var powerLosses = 1_000
  /// 1 crashes at each system call, 2 at every other one, and so on.
  var step = 1
  /// The step gets smaller than that where there would be fewer runs of a kind of fault.
  static let leastRuns = 20

  /// The step through so many calls.
  func step(through calls: Int) -> Int { max(1, min(step, calls / Self.leastRuns)) }

  /// What processes that are started begin their arguments with.
  var prefix: [String] { isEncrypted ? [TortureStore.argument] : [] }

  /// Whether what is stored is encrypted.
  let isEncrypted: Bool

  /// Nil for arguments that are none of it.
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
