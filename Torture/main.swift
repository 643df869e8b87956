import HTTPCacheFaults
import HTTPCacheLibC
import HTTPCacheTesting

// cache-torture [--encrypted] [--short] [--seed N] [--kills N] [--corruptions N] [--power N] [--step N]
//
// Tests the store on disk, plain or encrypted, with kills, crashes at each system call, power losses and corruptions,
// and prints the findings. Exits with 1 if anything was wrong.

let arguments = Array(CommandLine.arguments.dropFirst())
let isEncrypted = arguments.first == TortureStore.argument
let rest = isEncrypted ? Array(arguments.dropFirst()) : arguments
let isWorker =
  if try await KillWorker.run(rest, isEncrypted: isEncrypted) {
    true
  } else if try await DamageWorker.run(rest, isEncrypted: isEncrypted) {
    true
  } else if try RemovalWorker.run(rest) {
    true
  } else {
    try await CrashWorker.run(rest) { directory, clock in
      try TortureStore(directory, isEncrypted: isEncrypted, clock: clock).store
    }
  }
if !isWorker {
  guard let options = TortureOptions(rest, isEncrypted: isEncrypted) else {
    say(
      """
      usage: cache-torture [--encrypted] [--short] [--seed N] [--kills N] [--corruptions N] [--power N] \
      [--step N]
      """)
    exit(2)
  }
  exit(try await Torture(options).run() ? 0 : 1)
}
