import Foundation
import HTTPCacheLibC
import HTTPCacheTesting
import Testing

#if os(Linux)
  /// A file system that a test mounts, if the process may mount.
  final class MountedFolder: Sendable {
    /// Whether this process can mount in both ways, and finds the mounted files.
    static let isAllowed: Bool = {
      guard geteuid() == 0, let folder = try? ScratchFolder() else { return false }
      let (files, below) = (FileManager.default, folder.path("below"))
      guard (try? files.createDirectory(atPath: below, withIntermediateDirectories: false)) != nil,
        let memory = try? MountedFolder(folder.path, options: "size=64k")
      else { return false }
      let isMounted = !files.fileExists(atPath: below)
      withExtendedLifetime(memory) {}
      guard isMounted, let other = try? ScratchFolder(),
        let bound = try? MountedFolder(readOnly: other.path, at: folder.path)
      else { return false }
      defer { withExtendedLifetime(bound) {} }
      return mkdir(folder.path("made"), 0o700) != 0 && errno == EROFS
    }()

    static let needed: Comment = "needs leave to mount, as root in a container of its own has"

    let path: String

    /// A file system in memory.
    ///
    /// - Parameter options: such as `size=1m`.
    init(_ path: String, options: String) throws {
      self.path = path
      try Self.mount("tmpfs", at: path, type: "tmpfs", options: "mode=755," + options)
    }

    /// Mounts a folder at another path, read only.
    init(readOnly folder: String, at path: String) throws {
      self.path = path
      try Self.mount(folder, at: path, flags: MS_BIND)
      do {
        try Self.mount(folder, at: path, flags: MS_BIND | MS_REMOUNT | MS_RDONLY)
      } catch {
        umount2(path, Int32(MNT_DETACH))
        throw error
      }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    private static func mount(
      _ source: String, at path: String, type: String = "none", flags: Int = 0, options: String = ""
    ) throws {
      guard HTTPCacheLibC.mount(source, path, type, UInt(flags), options) == 0 else {
        throw CocoaError(.fileWriteNoPermission)
      }
    }
  }
#endif

/// The names, sizes, times and contents of all files below a folder.
func snapshot(_ folder: String) throws -> [String: String] {
  var found: [String: String] = [:]
  for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
    let path = folder + "/" + name
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let contents = FileManager.default.contents(atPath: path) ?? Data()
    found[name] =
      "\(attributes[.posixPermissions] ?? "") \(attributes[.modificationDate] ?? "") \(contents.hashValue)"
  }
  return found
}
