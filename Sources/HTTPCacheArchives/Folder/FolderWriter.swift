import HTTPCacheFiles
import HTTPCacheLibC
public import HTTPCacheStore

/// Writes responses as a folder that a `FolderSeed` reads: bodies as plain files in the layout of EVURLCache, heads
/// in `seeds.jsonl`.
///
/// A response whose name does not fit (too long or too deep, with characters that are not shown, taken by a name that differs only in case or normal form, a
/// file where a folder is, a name of this writer) gets a file in the folder `_more`; `seeds.jsonl` names it.
public enum FolderWriter {
  private static let longestName = 255
  private static let longestPath = 1_024

  /// Writes all responses of a source.
  ///
  /// - Parameters:
  ///   - source: the responses.
  ///   - path: a folder that does not exist yet, in a folder that does.
  /// - Returns: the number of responses written.
  /// - Throws: `CacheError.io`, also if something exists at `path`; `CacheError.noSpace`; `CacheError.cancelled`; what
  ///   reading the source throws. What was written until then stays.
  @discardableResult
  public static func write(_ source: any SeedSource, to path: String) async throws(CacheError) -> Int {
    try makeFolder(path)
    let manifest = try CacheFile(path: "\(path)/\(FolderManifest.name)", flags: O_WRONLY | O_CREAT | O_EXCL)
    var names = Names()
    var number = 0
    while true {
      let page = try source.responses(from: number, limit: 64)
      for seed in page {
        if Task.isCancelled { throw CacheError(.cancelled, "the task was cancelled") }
        let name = names.add(FolderLayout.paths(of: seed.target).first)
        try makeFolders(of: name, in: path)
        try await seed.body.open().clone(to: "\(path)/\(name)")
        for target in [seed.target] + seed.otherTargets {
          try manifest.write(BodyBytes(try FolderManifest.line(of: seed, to: target, file: name)))
        }
      }
      number += page.count
      if page.isEmpty { return number }
    }
  }

  private static func makeFolders(of name: String, in root: String) throws(CacheError) {
    var path = root
    for part in name.split(separator: "/").dropLast() {
      path += "/\(part)"
      guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw CacheFile.failure("make \(path)") }
    }
  }

  private static func makeFolder(_ path: String) throws(CacheError) {
    guard mkdir(path, 0o755) == 0 else {
      if errno == EEXIST { throw CacheError(.io, "\(path) exists; the folder to write must not exist yet") }
      throw CacheFile.failure("make \(path)")
    }
  }

  /// The names given so far, and those of this writer, without regard to case and normal form, so that a folder can
  /// move between file systems.
  private struct Names {
    private var files: Set<String> = [FolderManifest.name]
    private var folders: Set<String> = [others]
    private var count = 0
    /// The folder of the responses whose own name is not free.
    private static let others = "_more"

    /// A name that is still free: the wanted one if possible.
    mutating func add(_ wanted: String?) -> String {
      // Some letters have an upper case only: "ſ" is "s" to a file system that ignores case. Swift compares strings by
      // canonical equivalence, so both normal forms are equal.
      if let wanted, case let folded = wanted.uppercased().lowercased(), isFree(folded, wanted) {
        take(folded)
        return wanted
      }
      count += 1
      let name = "\(Self.others)/\(count)"
      take(name)
      return name
    }

    private func isFree(_ name: String, _ wanted: String) -> Bool {
      guard !name.hasPrefix(Self.others + "/"), wanted.utf8.count <= longestPath, !files.contains(name),
        !folders.contains(name)
      else { return false }
      let parts = wanted.split(separator: "/")
      // A query may contain "/../", which would lead out of the folder, or end with "/", as no file does.
      let isPlain = parts.allSatisfy {
        $0 != ".." && $0 != "." && $0.utf8.count <= longestName && !FolderWalk.isIgnored(String($0))
      }
      guard isPlain, parts.count <= FolderWalk.deepest, !wanted.contains("//"), !wanted.hasSuffix("/"),
        !wanted.unicodeScalars.contains(where: Self.isInvisible)
      else { return false }
      return Self.parents(of: name).allSatisfy { !files.contains($0) }
    }

    /// Whether a character changes how a name is shown: controls, ends of lines, directions of writing.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
      [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    private mutating func take(_ name: String) {
      files.insert(name)
      folders.formUnion(Self.parents(of: name))
    }

    private static func parents(of name: String) -> [String] {
      name.indices.filter { name[$0] == "/" }.map { String(name[..<$0]) }
    }
  }
}
