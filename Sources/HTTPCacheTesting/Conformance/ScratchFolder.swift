import HTTPCacheFiles
import HTTPCacheLibC
package import HTTPCacheStore

/// A folder for the files of a check. It is removed with its last user.
package final class ScratchFolder: Sendable {
  private let path: String

  /// Makes a folder among the temporary files.
  ///
  /// - Throws: `CacheError.io`.
  package init() throws(CacheError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/store-check-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CacheError(.io, "no folder in \(parent): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { remove(name) }
    rmdir(path)
  }

  /// The file with this name.
  package func file(_ name: String) -> ScratchFile { ScratchFile("\(path)/\(name)") }

  /// Removes the file with this name.
  package func remove(_ name: String) { unlink(file(name).path) }

  /// The names of its files.
  package var names: [String] {
    var names: [String] = []
    let folder = try? CacheFile(path: path, flags: CacheFile.folder)
    try? folder?.eachName { if let name = $0 { names.append(name) } }
    return names.sorted()
  }
}
