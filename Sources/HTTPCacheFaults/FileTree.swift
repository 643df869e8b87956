import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore
import HTTPCacheTesting

/// Makes, copies and removes folders for sweeps.
package enum FileTree {
  /// All paths below a folder, relative to it; each folder comes before its contents.
  package static func contents(of folder: String) -> [(path: String, isFolder: Bool)] {
    var found: [(path: String, isFolder: Bool)] = []
    func visit(_ path: String) {
      let opened = try? CacheFile(path: path.isEmpty ? folder : folder + "/" + path, flags: CacheFile.folder)
      try? opened?.eachName { name in
        guard let name else { return }
        let below = path.isEmpty ? name : path + "/" + name
        var status = stat()
        guard lstat(folder + "/" + below, &status) == 0 else { return }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        found.append((below, isFolder))
        if isFolder { visit(below) }
      }
    }
    visit("")
    return found
  }

  /// Removes a folder with its contents, or a file; does nothing if it does not exist.
  package static func remove(_ path: String) {
    for (below, isFolder) in contents(of: path).reversed() {
      if isFolder { rmdir(path + "/" + below) } else { unlink(path + "/" + below) }
    }
    if rmdir(path) != 0 { unlink(path) }
  }

  /// Makes a folder.
  package static func make(_ path: String) throws(FaultError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw FaultError("\(path): \(String(cString: strerror(errno)))")
    }
  }

  /// Copies a folder to a path where nothing exists.
  package static func copy(_ source: String, to destination: String) throws(FaultError) {
    try make(destination)
    for (below, isFolder) in contents(of: source) {
      if isFolder {
        try make(destination + "/" + below)
      } else {
        try write(try read(source + "/" + below), to: destination + "/" + below)
      }
    }
  }

  /// The content of a file.
  package static func read(_ path: String) throws(FaultError) -> [UInt8] {
    guard let bytes = ScratchFile(path).bytes else { throw FaultError("\(path) cannot be read") }
    return bytes
  }

  /// The content of a file; nil if it does not exist, or was deleted meanwhile.
  package static func readIfPresent(_ path: String) throws(FaultError) -> [UInt8]? {
    do throws(FaultError) {
      return try read(path)
    } catch {
      guard access(path, F_OK) != 0 else { throw error }
      return nil
    }
  }

  /// Makes or replaces a file.
  package static func write(_ bytes: [UInt8], to path: String) throws(FaultError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FaultError("\(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
    let code = bytes.withUnsafeBytes { Descriptor.writeAll($0, to: file) }
    guard code == 0 else { throw FaultError("\(path): \(String(cString: strerror(code)))") }
  }
}
