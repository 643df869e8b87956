import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What this process knows of body files from earlier opens: which blocks of them were checked. It
/// counts only as long as a file is what it was then, and for an hour: what goes bad on the medium
/// below the file system changes no time.
final class CheckedBodies: Sendable {
  private struct Body {
    var state: FileState
    var blocks: CheckedBlocks
    /// Of the clock that never goes back.
    var since: Duration
  }

  private struct Bodies {
    var recent: [BodyName: Body] = [:]
    // Those that were not opened since `recent` was last full.
    var older: [BodyName: Body] = [:]

    mutating func add(_ body: Body, as name: BodyName) {
      if recent.count >= CheckedBodies.half, recent[name] == nil {
        older = recent
        recent = [:]
      }
      recent[name] = body
    }
  }

  /// Half of the bodies that are remembered at most.
  static let half = 2048
  static let lifetime = Duration.seconds(3600)

  private let clock: any CacheClock
  private let systemTime: @Sendable () -> FileState.Moment
  private let bodies = Mutex(Bodies())

  /// - Parameter systemTime: by the clock that dates files.
  init(clock: any CacheClock, systemTime: @escaping @Sendable () -> FileState.Moment = now) {
    self.clock = clock
    self.systemTime = systemTime
  }

  /// The blocks that were checked of a file that is as it was then; else none, to be added to.
  func blocks(of name: BodyName, _ state: FileState) -> CheckedBlocks {
    // What may still be written to within the same tick is checked for this one open.
    guard state.isSettled(at: systemTime()) else { return CheckedBlocks() }
    let now = clock.uptime
    return bodies.withLock { bodies in
      let older = bodies.older.removeValue(forKey: name)
      if let body = bodies.recent[name] ?? older, body.state == state,
        now - body.since < Self.lifetime
      {
        if older != nil { bodies.add(body, as: name) }
        return body.blocks
      }
      let body = Body(state: state, blocks: CheckedBlocks(), since: now)
      bodies.add(body, as: name)
      return body.blocks
    }
  }

  /// How many bodies are remembered.
  var count: Int { bodies.withLock { $0.recent.count + $0.older.count } }

  @Sendable private static func now() -> FileState.Moment {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileState.Moment(time)
  }
}
