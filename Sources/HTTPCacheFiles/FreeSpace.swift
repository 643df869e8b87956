import HTTPCacheLibC
import Synchronization

/// The free bytes of a folder's file system: asked for now and then, estimated in between.
package final class FreeSpace: Sendable {
  /// Bytes of a file system.
  package struct Space: Sendable {
    var free: Int64
    var all: Int64
  }

  private struct State {
    var minimum: Int64
    var space: Space?
    var change: Int64 = 0
    var asked: Duration?
  }

  /// The minimum of free bytes on the file system.
  package var minimum: Int64 { state.withLock { $0.minimum } }
  private let look: @Sendable (_ descriptor: Int32) -> Space?
  private let uptime: @Sendable () -> Duration
  private let state: Mutex<State>

  // Asking the file system costs some microseconds. Ask at most once a second, or after each MiB written.
  private static let longest = Duration.seconds(1)
  private static let most: Int64 = 1 << 20

  /// - Parameters:
  ///   - minimum: bytes to keep free, at most a quarter of the file system; 0 never asks.
  ///   - look: returns the free bytes and all bytes of the file system of a folder; nil if they are unknown.
  ///   - uptime: the time by a monotonic clock.
  package init(
    minimum: Int64, look: (@Sendable (_ descriptor: Int32) -> Space?)? = nil,
    uptime: @escaping @Sendable () -> Duration
  ) {
    self.uptime = uptime
    state = Mutex(State(minimum: max(0, minimum)))
    self.look = look ?? { FreeSpace.space(of: $0) }
  }

  /// Changes the minimum.
  package func setMinimum(_ bytes: Int64) { state.withLock { $0.minimum = max(0, bytes) } }

  /// Bytes to free to restore the minimum; negative if there is slack, nil if the free space is unknown or
  /// the minimum is 0.
  package func shortage(in folder: OpenFile<some SystemFailure>) -> Int64? {
    let minimum = minimum
    guard minimum > 0, let space = space(in: folder) else { return nil }
    // At most a quarter: otherwise nothing could be stored on a small file system.
    let (shortage, overflow) = min(minimum, space.all / 4).subtractingReportingOverflow(space.free)
    return overflow ? .min : shortage
  }

  /// The free bytes; nil if they are unknown.
  package func free(in folder: OpenFile<some SystemFailure>) -> Int64? { space(in: folder)?.free }

  private func space(in folder: OpenFile<some SystemFailure>) -> Space? {
    let now = uptime()
    let known: Space? = state.withLock { state in
      guard let asked = state.asked, now - asked < Self.longest, abs(state.change) < Self.most else {
        return nil
      }
      return state.space.map { space in
        let (free, overflow) = space.free.addingReportingOverflow(state.change)
        return Space(free: overflow ? space.free : free, all: space.all)
      }
    }
    if let known { return known }
    let space = look(folder.descriptor)
    state.withLock { $0 = State(minimum: $0.minimum, space: space, asked: now) }
    return space
  }

  /// Subtracts bytes that were written from the estimate.
  package func didUse(_ bytes: Int64) { state.withLock { $0.change -= bytes } }

  /// Drops the estimate, after much was written or deleted.
  package func askAgain() { state.withLock { $0.asked = nil } }

  private static func space(of descriptor: Int32) -> Space? {
    var status = statvfs()
    // Some file systems, such as those of FUSE, do not count their blocks.
    guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
    let blockSize = Int64(clamping: status.f_frsize)
    func bytes(_ blocks: Int64) -> Int64 {
      let (bytes, overflow) = blocks.multipliedReportingOverflow(by: blockSize)
      return overflow ? .max : bytes
    }
    return Space(
      free: bytes(Int64(clamping: status.f_bavail)), all: bytes(Int64(clamping: status.f_blocks)))
  }
}
