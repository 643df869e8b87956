import HTTPCacheFaults
import HTTPCacheLibC
import HTTPCacheTesting

/// The kinds of damage to a directory.
enum Damage: String, CaseIterable {
  case flipBody, cutBody, growBody, zeroBody, swapBodies, bodyGone, bodyFolder, bodyLink, bodyPipe
  case flipIndex, flipManyInIndex, zeroPage, garbagePage, swapPages, cutIndexAtPage, cutIndex, growIndex
  case indexText, indexEmpty, indexGone
  case flipLog, cutLog, logGone, logOfOther
  case garbageLogIndex, cutLogIndex
  case flipCounters, garbageCounters, cutCounters, countersGone
  case writersGone, bodiesGone, strangeFiles

  /// Whether the damage is to exactly one body, so that the store must find it.
  var isOfOneBody: Bool {
    switch self {
    case .flipBody, .cutBody, .growBody, .zeroBody, .bodyGone, .bodyFolder, .bodyLink, .bodyPipe: true
    default: false
    }
  }

  /// Damages a directory.
  ///
  /// - Parameters:
  ///   - bodies: the paths of all body files, below `directory`.
  ///   - partLength: the length of the files of partial bodies, in bytes.
  /// - Returns: false if the directory has no file for this kind of damage.
  func apply(
    to directory: String, bodies: [String], partLength: Int, _ generator: inout SeededGenerator
  ) throws(FaultError) -> Bool {
    let body = bodies.isEmpty ? nil : directory + "/" + bodies[generator.below(bodies.count)]
    switch self {
    case .flipBody, .cutBody, .growBody, .zeroBody, .bodyGone, .bodyFolder, .bodyLink, .bodyPipe,
      .swapBodies:
      guard let body else { return false }
      let others = bodies.map { directory + "/" + $0 }
      return try damage(body, others: others, partLength: partLength, &generator)
    case .flipIndex, .flipManyInIndex, .zeroPage, .garbagePage, .swapPages, .cutIndexAtPage, .cutIndex,
      .growIndex:
      return try damageIndex(directory + "/Cache.db", &generator)
    case .indexText: try FileTree.write(Array("no database".utf8), to: directory + "/Cache.db")
    case .indexEmpty: try FileTree.write([], to: directory + "/Cache.db")
    case .indexGone: unlink(directory + "/Cache.db")
    case .flipLog: return try change(directory + "/Cache.db-wal") { Self.flip(&$0, &generator) }
    case .cutLog:
      return try change(directory + "/Cache.db-wal") { $0.removeLast(generator.below($0.count)) }
    case .logGone: unlink(directory + "/Cache.db-wal")
    case .logOfOther:
      try FileTree.write(Self.noise(40_000, &generator), to: directory + "/Cache.db-wal")
    case .garbageLogIndex:
      try FileTree.write(Self.noise(32_768, &generator), to: directory + "/Cache.db-shm")
    case .cutLogIndex:
      try FileTree.write(Self.noise(generator.below(40_000), &generator), to: directory + "/Cache.db-shm")
    case .flipCounters: return try change(directory + "/Cache.gen") { Self.flip(&$0, &generator) }
    case .garbageCounters:
      return try change(directory + "/Cache.gen") { $0 = Self.noise($0.count, &generator) }
    case .cutCounters:
      return try change(directory + "/Cache.gen") { $0.removeLast(generator.below($0.count)) }
    case .countersGone: unlink(directory + "/Cache.gen")
    case .writersGone: FileTree.remove(directory + "/writers")
    case .bodiesGone: FileTree.remove(directory + "/bodies")
    case .strangeFiles:
      for name in [
        "x", "writers/x", "writers/0123456789abcdef", "bodies/x", "bodies/0123456789abcdef-1",
        "Cache.db-journal",
      ] {
        // Without the folder there is no such file.
        do { try FileTree.write(Self.noise(5_000, &generator), to: directory + "/" + name) } catch {}
      }
    }
    return true
  }

  private func damage(
    _ body: String, others: [String], partLength: Int, _ generator: inout SeededGenerator
  ) throws(FaultError) -> Bool {
    switch self {
    case .flipBody: return try change(body) { Self.flip(&$0, &generator) }
    case .cutBody: return try change(body) { $0.removeLast(1 + generator.below($0.count)) }
    case .growBody:
      // The file of a partial body may be longer than its stored bytes.
      if try FileTree.read(body).count == partLength { return false }
      return try change(body) { $0 += Self.noise(1 + generator.below(5_000), &generator) }
    case .zeroBody:
      return try change(body) { bytes in
        let start = generator.below(bytes.count)
        for index in start..<min(bytes.count, start + 4_096) { bytes[index] = 0 }
      }
    case .swapBodies:
      let other = others[generator.below(others.count)]
      guard other != body else { return false }
      let spare = body + ".spare"
      return rename(body, spare) == 0 && rename(other, body) == 0 && rename(spare, other) == 0
    case .bodyGone: unlink(body)
    case .bodyFolder:
      unlink(body)
      try FileTree.make(body)
    case .bodyLink:
      let moved = body + ".moved"
      return rename(body, moved) == 0 && symlink(moved, body) == 0
    case .bodyPipe:
      unlink(body)
      return mkfifo(body, 0o600) == 0
    default: break
    }
    return true
  }

  private func damageIndex(_ path: String, _ generator: inout SeededGenerator) throws(FaultError) -> Bool {
    try change(path) { bytes in
      let pages = max(1, bytes.count / 4_096)
      let page = generator.below(pages) * 4_096
      let end = min(bytes.count, page + 4_096)
      switch self {
      case .flipIndex: Self.flip(&bytes, &generator)
      case .flipManyInIndex: for _ in 0..<generator.between(2, 200) { Self.flip(&bytes, &generator) }
      case .zeroPage: for index in page..<end { bytes[index] = 0 }
      case .garbagePage: bytes.replaceSubrange(page..<end, with: Self.noise(end - page, &generator))
      case .swapPages:
        let other = generator.below(pages) * 4_096
        for index in 0..<4_096 where page + index < bytes.count && other + index < bytes.count {
          bytes.swapAt(page + index, other + index)
        }
      case .cutIndexAtPage: bytes.removeLast(bytes.count - page)
      case .cutIndex: bytes.removeLast(generator.below(bytes.count))
      case .growIndex: bytes += Self.noise(generator.below(20_000), &generator)
      default: break
      }
    }
  }

  // Changes the content of a file that is not empty.
  private func change(_ path: String, _ body: (inout [UInt8]) -> Void) throws(FaultError) -> Bool {
    guard access(path, F_OK) == 0 else { return false }
    var bytes = try FileTree.read(path)
    guard !bytes.isEmpty else { return false }
    let before = bytes
    body(&bytes)
    try FileTree.write(bytes, to: path)
    return bytes != before
  }

  static func flip(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
    bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8))
  }

  static func noise(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }
}
