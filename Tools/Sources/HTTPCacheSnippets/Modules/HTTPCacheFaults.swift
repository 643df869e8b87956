// The Swift of Sources/HTTPCacheFaults/HTTPCacheFaults.docc/HTTPCacheFaults.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheTesting

private func program1() async throws {
  let workload = StoreWorkload(seed: 1, count: 24)
  let sweep = FaultSweep(folder: "faults", workload: workload) { directory, clock in
    try DiskStore.open(directory: directory, capacity: 64 << 20, clock: clock)
  }
  let full = try await sweep.failing(.write, with: .noSpace)
  let power = try await sweep.powerLoss(runs: 1_000, isDurable: false)
  precondition(full.violations.isEmpty && power.violations.isEmpty)
}
