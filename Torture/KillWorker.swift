import HTTPCacheLibC
import HTTPCacheStore
import HTTPCacheTesting

/// A process that stores, reads, freshens, invalidates and removes until it is killed. Some keys belong to one
/// process, others are shared by all processes.
enum KillWorker {
  static let argument = "kill-worker"
  static let ownKeys = 10
  static let processes = 4
  static let sharedKeys = 40..<50

  static func ownWorkload(_ seed: UInt64, _ index: Int, _ writer: Int) -> StoreWorkload {
    StoreWorkload(
      seed: seed, count: 4_000, keys: index * ownKeys..<(index + 1) * ownKeys, writer: writer)
  }

  static func run(_ arguments: [String], isEncrypted: Bool) async throws -> Bool {
    guard arguments.count == 6, arguments[0] == argument, let capacity = Int64(arguments[2]),
      let seed = UInt64(arguments[3]), let index = Int(arguments[4]), let writer = Int(arguments[5])
    else { return false }
    let store = try TortureStore(arguments[1], capacity: capacity, isEncrypted: isEncrypted).store
    let shared = StoreWorkload(
      seed: ~seed, count: 4_000, keys: sharedKeys, writer: writer + 1_000_000, longest: 300_000)
    async let others: Void = shared.run(on: store)
    try await ownWorkload(seed, index, writer).run(on: store) { step, outcome in
      let letter = outcome == .begun ? "b" : outcome == .done ? "d" : "f"
      say("\(letter)\(step)")
    }
    try await others
    return true
  }
}
