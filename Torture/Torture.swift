import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheLibC
import HTTPCacheStore
import HTTPCacheTesting

/// Runs all kinds of faults and prints the results.
struct Torture {
  let options: TortureOptions
  let program: String
  let folder: String

  init(_ options: TortureOptions) throws {
    self.options = options
    guard let path = realpath("/proc/self/exe", nil) ?? realpath(CommandLine.arguments[0], nil) else {
      throw TortureError(description: "where this program lies is not known")
    }
    defer { free(path) }
    program = String(cString: path)
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/cache-torture-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TortureError(description: "no folder to work in: \(base)")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether no fault was found.
  func run() async throws -> Bool {
    defer { FileTree.remove(folder) }
    say("seed \(options.seed)\(options.isEncrypted ? ", encrypted" : "")")
    var isGood = true
    isGood = try await sweeps() && isGood
    if options.isEncrypted { isGood = try await removals() && isGood }
    isGood = try await kills() && isGood
    isGood = try await corruptions() && isGood
    return isGood
  }

  /// A folder of a part's own.
  func place(_ name: String) throws -> String {
    try FileTree.make(folder + "/" + name)
    return folder + "/" + name
  }

  private func sweeps() async throws -> Bool {
    guard SystemFaults.isAvailable else {
      say("system calls cannot be caught here: no crashes, errors or power losses")
      return true
    }
    var isGood = true
    func tell(_ name: String, _ report: SweepReport, since start: ContinuousClock.Instant) {
      say("\(name): \(report) [\(seconds(since: start)) s]")
      isGood = isGood && report.violations.isEmpty
    }
    let workload = StoreWorkload(seed: options.seed, count: 24)
    func sweep(_ durability: Durability, _ name: String) throws -> FaultSweep {
      let isEncrypted = options.isEncrypted
      return FaultSweep(folder: try place(name), workload: workload) { directory, clock in
        try TortureStore(directory, isEncrypted: isEncrypted, durability: durability, clock: clock).store
      }
    }
    let relaxed = try sweep(.relaxed, "relaxed")
    var start = ContinuousClock.now
    let step = options.step(through: try await relaxed.count(.changing))
    tell(
      "crash at each system call", try await relaxed.crashing(program, options.prefix, step: step),
      since: start)
    for (name, calls, fault, times) in Self.faults {
      start = ContinuousClock.now
      let step = options.step(through: try await relaxed.count(calls))
      tell(name, try await relaxed.failing(calls, with: fault, times: times, step: step), since: start)
    }
    start = ContinuousClock.now
    tell(
      "power loss, relaxed",
      try await relaxed.powerLoss(runs: options.powerLosses, seed: options.seed, isDurable: false),
      since: start)
    start = ContinuousClock.now
    let durable = try sweep(.durable, "durable")
    tell(
      "power loss, durable",
      try await durable.powerLoss(runs: options.powerLosses, seed: options.seed, isDurable: true),
      since: start)
    return isGood
  }

  private static let faults: [(String, SystemCalls, SystemFault, Int)] = [
    ("nth change fails, ENOSPC", .changing, .noSpace, 1),
    ("from the nth change on, ENOSPC", [.write, .allocate, .makeDirectory], .noSpace, .max),
    ("nth call fails, EIO", .all, .inputOutput, 1),
    ("from the nth call on, EIO", .all, .inputOutput, .max),
    ("nth open fails, EMFILE", .open, .tooManyFiles, 1),
    ("20 opens fail, EMFILE", .open, .tooManyFiles, 20),
    ("nth read is short", .read, .short(bytes: 7), 1),
    ("nth write is short", .write, .short(bytes: 100), 1),
    ("nth write is torn", .write, .torn(bytes: 512), 1),
  ]
}

struct TortureError: Error, CustomStringConvertible {
  let description: String
}

/// A duration in whole seconds.
func seconds(since start: ContinuousClock.Instant) -> Int64 {
  (ContinuousClock.now - start).components.seconds
}
