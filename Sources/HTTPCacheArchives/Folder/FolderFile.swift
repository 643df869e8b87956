import HTTPCacheStore

/// A regular file of a `FolderSeed`.
struct FolderFile: Sendable {
  /// The path below the folder, with `/` between names.
  let path: String
  /// Bytes.
  let length: Int64
  /// When it was last modified, in seconds since 1970.
  let modified: Int64
}
