import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What is free on the file system of a folder, asked for now and then and reckoned in between.
final class FreeSpace: Sendable {
  private struct State {
    var free: Int64?
    var change: Int64 = 0
    var asked: ContinuousClock.Instant?
  }

  /// Bytes that are kept free.
  let minimum: Int64
  private let look: @Sendable (OpenFile) -> Int64?
  private let state = Mutex(State())

  // Asking costs about a microsecond.
  private static let longest = Duration.seconds(1)
  private static let most: Int64 = 1 << 20

  /// - Parameters:
  ///   - minimum: bytes to keep free; 0 never looks.
  ///   - look: how many bytes are free; nil if that is not known.
  init(minimum: Int64, look: (@Sendable (OpenFile) -> Int64?)? = nil) {
    self.minimum = max(0, minimum)
    self.look = look ?? { FreeSpace.bytes(of: $0) }
  }

  /// How many bytes less should be in use; negative if there is more than enough, nil if that is not
  /// known or of no concern.
  func shortage(in folder: OpenFile) -> Int64? {
    guard minimum > 0, let free = free(in: folder) else { return nil }
    return minimum - free
  }

  /// Bytes that are free; nil if that is not known.
  func free(in folder: OpenFile) -> Int64? {
    let now = ContinuousClock.now
    let known: Int64? = state.withLock { state in
      guard let asked = state.asked, now - asked < Self.longest, abs(state.change) < Self.most else {
        return nil
      }
      return state.free.map { $0 + state.change }
    }
    if let known { return known }
    let free = look(folder)
    state.withLock { $0 = State(free: free, asked: now) }
    return free
  }

  /// Whether nothing more can be written, whatever is to be free.
  func isFull(_ folder: OpenFile) -> Bool { look(folder).map { $0 < 256 << 10 } ?? false }

  /// Bytes were written since it was asked.
  func didUse(_ bytes: Int64) { state.withLock { $0.change -= bytes } }

  /// Much was written or deleted.
  func askAgain() { state.withLock { $0.asked = nil } }

  private static func bytes(of folder: OpenFile) -> Int64? {
    var status = statvfs()
    guard fstatvfs(folder.descriptor, &status) == 0 else { return nil }
    return Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(status.f_frsize))
      .partialValue
  }
}
