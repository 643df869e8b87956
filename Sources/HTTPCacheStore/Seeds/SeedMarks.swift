import HTTPCacheFiles
import HTTPCacheSemantics
import Synchronization

/// The removals and invalidations of seeds, which cannot change themselves.
///
/// A mark names a scope (a target, an origin, a partition, a group, or everything) and a time: it applies to the
/// seeds of its scope that were received from the origin until then. Marks are kept in a file, so that later
/// processes and other processes see them; scopes are in it as hashes only.
final class SeedMarks: Sendable {
  /// The effect of a mark on a seed.
  enum Kind: UInt8, Sendable {
    case invalidated = 1
    case removed = 2
  }

  /// The times of one scope.
  struct Times: Sendable {
    var invalidatedUntil: Int64?
    var removedUntil: Int64?

    init() {}

    init(_ mark: SeedMarkFile.Mark) { add(mark.kind, until: mark.until) }

    mutating func add(_ kind: Kind, until seconds: Int64) {
      switch kind {
      case .invalidated: invalidatedUntil = max(seconds, invalidatedUntil ?? seconds)
      case .removed: removedUntil = max(seconds, removedUntil ?? seconds)
      }
    }
  }

  private struct State {
    // Marks of this process that could not be written, and all marks without a file.
    var own: [UInt64: Times] = [:]
    // Marks of the file.
    var filed: [UInt64: Times] = [:]
    var fileState: FileState?
    // The file cannot be read: each seed counts as invalidated.
    var isUnreadable = false
  }

  private let file: SeedMarkFile?
  private let state = Mutex(State())

  /// - Parameter path: the file; nil keeps marks in memory. A file that does not exist is made with the first
  ///   mark.
  init(path: String?) { file = path.map { SeedMarkFile(path: $0) } }

  /// Adds marks.
  ///
  /// - Parameter time: seeds received until then are marked.
  /// - Throws: `CacheError.io` or `CacheError.noSpace` if the file cannot be written: the marks then end with
  ///   this process.
  func add(_ kind: Kind, _ scopes: [InvalidationScope], until time: Timestamp) throws(CacheError) {
    let new = scopes.map { SeedMarkFile.Mark(kind: kind, until: time.seconds, scope: $0.hash) }
    state.withLock { state in
      for mark in new { state.own[mark.scope, default: Times()].add(kind, until: mark.until) }
    }
    guard let file else { return }
    refresh()
    let missing = state.withLock { state in
      state.isUnreadable ? new : new.filter { !Self.covers(state.filed[$0.scope], Times($0)) }
    }
    if !missing.isEmpty { try file.append(missing) }
    refresh()
    state.withLock { state in
      guard !state.isUnreadable else { return }
      for mark in new where state.own[mark.scope].map({ Self.covers(state.filed[mark.scope], $0) }) ?? false {
        state.own[mark.scope] = nil
      }
    }
  }

  /// The mark of a seed; nil if it has none.
  ///
  /// - Parameters:
  ///   - groups: the groups of the seed (RFC 9875).
  ///   - time: when it was received from the origin.
  func mark(of key: CacheKey, groups: [String], receivedAt time: Timestamp) -> Kind? {
    refresh()
    let (own, filed, isUnreadable) = state.withLock { ($0.own, $0.filed, $0.isUnreadable) }
    var found: Kind? = isUnreadable ? .invalidated : nil
    if own.isEmpty, filed.isEmpty { return found }
    func isRemoved(_ hash: UInt64) -> Bool {
      for times in [own[hash], filed[hash]].compactMap(\.self) {
        if let until = times.invalidatedUntil, time.seconds <= until { found = .invalidated }
        if let until = times.removedUntil, time.seconds <= until { return true }
      }
      return false
    }
    let isGone =
      isRemoved(InvalidationScope.everything.hash)
      || InvalidationScope.contains(of: key, groups: groups, requestTarget: nil, where: isRemoved)
    return isGone ? .removed : found
  }

  /// Whether the marks of the file include all of these.
  private static func covers(_ filed: Times?, _ times: Times) -> Bool {
    let isCovered = { (own: Int64?, filed: Int64?) in
      own.map { own in filed.map { $0 >= own } ?? false } ?? true
    }
    return isCovered(times.invalidatedUntil, filed?.invalidatedUntil)
      && isCovered(times.removedUntil, filed?.removedUntil)
  }

  /// Reads the file again if it changed.
  private func refresh() {
    guard let file else { return }
    let fileState = file.state
    if state.withLock({ $0.fileState == fileState }) { return }
    let marks = file.read()
    state.withLock { state in
      state.fileState = fileState
      state.isUnreadable = marks == nil
      state.filed = [:]
      for mark in marks ?? [] {
        state.filed[mark.scope, default: Times()].add(mark.kind, until: mark.until)
      }
    }
  }
}
