#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes the path of a directory independent of the working directory.
package enum DirectoryPath {
  /// The absolute path of a directory. Symbolic links in the path are not resolved.
  package static func absolute(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    let folder = String(cString: current)
    return folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}
