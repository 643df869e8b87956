#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The path of a directory, as it is kept.
package enum DirectoryPath {
  /// The same place whatever the working directory becomes. Links on the way are followed anew each time.
  package static func absolute(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    let folder = String(cString: current)
    return folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}
