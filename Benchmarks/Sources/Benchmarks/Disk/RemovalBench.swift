import Foundation
import HTTPCacheSemantics
import HTTPCacheDisk
import HTTPCacheStore
import HTTPTypes

/// How long it takes to remove all entries of a store.
struct RemovalBench {
  let size: Int

  func print() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("removal-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try DiskStore.open(directory: folder, capacity: 1 << 38, clock: StandingClock())
    let body = BodyBytes(DiskSample.body(4_096))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<64 {
        group.addTask {
          for index in stride(from: lane, to: size, by: 64) {
            let writer = try await store.write(
              DiskSample(index, length: body.count, groups: 0).record, variantLimit: 8)
            try await writer.append(body)
            try await writer.commit(trailers: [:])
          }
        }
      }
      try await group.waitForAll()
    }
    await store.flush()
    let before = store.usage
    let start = ContinuousClock.now
    let count = try await store.remove(.all)
    let time = ContinuousClock.now - start
    Swift.print(
      "removed \(count) entries, \(before.diskBytes >> 20) MiB, in \(time); \(store.usage.diskBytes >> 10) KiB are left"
    )
  }
}
