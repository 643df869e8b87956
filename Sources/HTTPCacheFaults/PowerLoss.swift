import HTTPCacheTesting

/// The possible states of a folder after a power loss: a change that was not synced is there completely, in
/// part, or not at all, in any order.
///
/// Two kinds of file systems are simulated by turns. In one, changes of names take effect in order and every
/// sync waits for the changes before it, as with a journal. In the other, a name is only safe after its
/// folder was synced; any other change of a name may be lost.
public struct PowerLoss: Sendable {
  private let changes: [SystemChange]

  /// Takes the changes, starting with an empty folder (`SystemFaults.changes`).
  public init(changes: [SystemChange]) { self.changes = changes }

  /// Makes a folder in a possible state.
  ///
  /// - Parameters:
  ///   - count: the number of changes before the power loss.
  ///   - seed: chooses which changes survive that were not synced.
  ///   - folder: a path where nothing exists.
  /// - Throws: `FaultError` if it cannot be made.
  public func makeFolder(_ folder: String, after count: Int, seed: UInt64) throws(FaultError) {
    var generator = SeededGenerator(seed: seed)
    let done = changes.prefix(count)
    let nodes = names(Array(done), &generator)
    let contents = contents(Array(done), &generator)
    try FileTree.make(folder)
    for (path, node) in nodes.sorted(by: { $0.key.utf8.count < $1.key.utf8.count }) {
      guard Self.isReachable(path, nodes) else { continue }
      switch node {
      case .folder: try FileTree.make(folder + "/" + path)
      case .file(let number): try FileTree.write(contents[number] ?? [], to: folder + "/" + path)
      }
    }
  }

  private enum Node: Hashable {
    case folder
    case file(Int64)
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  private static func isReachable(_ path: String, _ nodes: [String: Node]) -> Bool {
    let above = parent(of: path)
    return above.isEmpty || (nodes[above] == .folder && isReachable(above, nodes))
  }

  // MARK: Names

  private func names(_ done: [SystemChange], _ generator: inout SeededGenerator) -> [String: Node] {
    let isJournaled = generator.below(2) == 0
    let lastSync = done.lastIndex { change in
      switch change {
      case .synced, .folderSynced: true
      default: false
      }
    }
    let end = isJournaled ? generator.between((lastSync ?? -1) + 1, done.count) : done.count
    let lostOf = generator.below(3)
    var nodes: [String: Node] = [:]
    for (index, change) in done.prefix(end).enumerated() {
      guard let folder = Self.folder(of: change) else { continue }
      if !isJournaled {
        let isSafe = done[index...].contains(.folderSynced(path: folder))
        // All unsafe changes are lost, or none, or some.
        if !isSafe, lostOf == 0 || (lostOf == 2 && generator.below(2) == 0) { continue }
      }
      apply(change, &nodes)
    }
    return nodes
  }

  /// The folder whose names a change affects; nil if none.
  private static func folder(of change: SystemChange) -> String? {
    switch change {
    case .created(let path, _), .renamed(_, let path), .linked(_, let path), .unlinked(let path),
      .folderMade(let path), .folderRemoved(let path):
      parent(of: path)
    case .written, .truncated, .allocated, .synced, .folderSynced: nil
    }
  }

  private func apply(_ change: SystemChange, _ nodes: inout [String: Node]) {
    switch change {
    case .created(let path, let file): nodes[path] = .file(file)
    case .folderMade(let path): nodes[path] = .folder
    case .unlinked(let path), .folderRemoved(let path): nodes[path] = nil
    case .linked(let from, let to): nodes[to] = nodes[from] ?? nodes[to]
    case .renamed(let from, let to):
      guard let node = nodes.removeValue(forKey: from) else { return }
      nodes[to] = node
    case .written, .truncated, .allocated, .synced, .folderSynced: break
    }
  }

  // MARK: Contents

  private enum Loss: CaseIterable {
    case everything, nothing, some, torn
  }

  private func contents(
    _ done: [SystemChange], _ generator: inout SeededGenerator
  ) -> [Int64: [UInt8]] {
    var lastSync: [Int64: Int] = [:]
    for (index, change) in done.enumerated() {
      if case .synced(let file) = change { lastSync[file] = index }
    }
    var losses: [Int64: Loss] = [:]
    var contents: [Int64: [UInt8]] = [:]
    for (index, change) in done.enumerated() {
      guard let file = Self.file(of: change) else { continue }
      var kept: SystemChange? = change
      if index > lastSync[file] ?? -1 {
        let known = losses[file]
        let loss = known ?? Loss.allCases[generator.below(Loss.allCases.count)]
        losses[file] = loss
        kept = Self.what(is: loss, of: change, &generator)
      }
      if let kept { Self.apply(kept, &contents[file, default: []]) }
    }
    return contents
  }

  private static func file(of change: SystemChange) -> Int64? {
    switch change {
    case .written(let file, _, _), .truncated(let file, _), .allocated(let file, _): file
    default: nil
    }
  }

  // The surviving part of a change that was not synced.
  private static func what(
    is loss: Loss, of change: SystemChange, _ generator: inout SeededGenerator
  ) -> SystemChange? {
    switch loss {
    case .everything: return nil
    case .nothing: return change
    case .some: return generator.below(2) == 0 ? change : nil
    case .torn:
      guard case .written(let file, let offset, let bytes) = change else { return change }
      let unit = generator.below(2) == 0 ? 512 : 4_096
      let units = (bytes.count + unit - 1) / unit
      let cut = min(bytes.count, generator.below(units + 1) * unit)
      // The first or the second half may have survived.
      return generator.below(2) == 0
        ? .written(file: file, offset: offset, bytes: Array(bytes.prefix(cut)))
        : .written(file: file, offset: offset + Int64(cut), bytes: Array(bytes.dropFirst(cut)))
    }
  }

  private static func apply(_ change: SystemChange, _ bytes: inout [UInt8]) {
    switch change {
    case .written(_, let offset, let new):
      guard !new.isEmpty else { return }
      let end = Int(offset) + new.count
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(Int(offset)..<end, with: new)
    case .truncated(_, let length):
      if bytes.count > Int(length) { bytes.removeLast(bytes.count - Int(length)) }
      if bytes.count < Int(length) { bytes += [UInt8](repeating: 0, count: Int(length) - bytes.count) }
    case .allocated(_, let length):
      if bytes.count < Int(length) { bytes += [UInt8](repeating: 0, count: Int(length) - bytes.count) }
    default: break
    }
  }
}
