import Foundation
import Synchronization

/// Shares the lock of a file again and again for a moment, as a process does that searches for entries to evict.
final class LockLoop: Sendable {
  private let hasEnded = Atomic<Bool>(false)

  init(_ path: String) {
    let thread = Thread { [weak self] in
      while let self, !self.hasEnded.load(ordering: .relaxed) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = flock(descriptor, LOCK_SH | LOCK_NB)
        sched_yield()
        close(descriptor)
      }
    }
    thread.start()
  }

  deinit { end() }

  func end() { hasEnded.store(true, ordering: .relaxed) }
}
