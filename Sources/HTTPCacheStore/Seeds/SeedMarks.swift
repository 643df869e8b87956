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

  /// The effect of a mark, and its scope as `InvalidationScope.hash`.
  struct Subject: Sendable, Hashable {
    let kind: Kind
    let scope: UInt64
  }

  private struct State {
    // The latest times of marks of this process that could not be written, and of all marks without a file.
    var own: [Subject: Int64] = [:]
    // The latest times of marks of the file.
    var filed: [Subject: Int64] = [:]
    var fileState: FileState?
    // The file cannot be read: each seed counts as invalidated.
    var isUnreadable = false

    func isFiled(_ subject: Subject, until: Int64) -> Bool { filed[subject].map { $0 >= until } ?? false }
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
    state.withLock { $0.own.merge(new.map { ($0.subject, $0.until) }, uniquingKeysWith: max) }
    guard let file else { return }
    refresh()
    let missing = state.withLock { state in
      state.isUnreadable ? new : new.filter { !state.isFiled($0.subject, until: $0.until) }
    }
    if !missing.isEmpty { try file.append(missing) }
    refresh()
    state.withLock { state in
      guard !state.isUnreadable else { return }
      for subject in new.map(\.subject) {
        guard let until = state.own[subject], state.isFiled(subject, until: until) else { continue }
        state.own[subject] = nil
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
    func isRemoved(_ scope: UInt64) -> Bool {
      func isMarked(_ kind: Kind) -> Bool {
        let subject = Subject(kind: kind, scope: scope)
        return [own[subject], filed[subject]].compactMap(\.self).contains { time.seconds <= $0 }
      }
      if isMarked(.invalidated) { found = .invalidated }
      return isMarked(.removed)
    }
    let isGone =
      isRemoved(InvalidationScope.everything.hash)
      || InvalidationScope.contains(of: key, groups: groups, requestTarget: nil, where: isRemoved)
    return isGone ? .removed : found
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
      state.filed = Dictionary((marks ?? []).map { ($0.subject, $0.until) }, uniquingKeysWith: max)
    }
  }
}
