import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheTesting

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// cache-torture [--short] [--seed N] [--kills N] [--corruptions N] [--power N] [--step N]
//
// Puts the store on disk through kills, crashes at each system call, power losses and corruptions, and
// prints what was found. Ends with 1 if anything was wrong.

let arguments = Array(CommandLine.arguments.dropFirst())
let isWorker =
  if try await KillWorker.run(arguments) {
    true
  } else if try await DamageWorker.run(arguments) {
    true
  } else {
    try await CrashWorker.run(arguments) { directory, clock in
      try DiskStore.open(directory: directory, capacity: 1 << 28, clock: clock)
    }
  }
if !isWorker {
  guard let options = TortureOptions(arguments) else {
    say(
      "usage: cache-torture [--short] [--seed N] [--kills N] [--corruptions N] [--power N] [--step N]")
    exit(2)
  }
  exit(try await Torture(options).run() ? 0 : 1)
}
