public import Foundation
public import HTTPCacheStore

extension SeedSource where Self == FolderSeed {
  /// Opens content of a bundle: a folder such as a folder reference `PreCache`, an archive, a HAR or a WARC file.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.userCaches("com.example.app", seeds: [.bundle("PreCache")]))
  /// ```
  ///
  /// - Parameters:
  ///   - name: the path below the bundle's resources.
  ///   - bundle: the bundle; by default the app's.
  /// - Returns: the source that `Seeds.open(path:)` opens.
  /// - Throws: as `Seeds.open(path:)`; `CacheError.io` if the bundle has no resources.
  public static func bundle(
    _ name: String, in bundle: Bundle = .main
  ) throws(CacheError) -> any SeedSource {
    try Seeds.open(path: try bundle.seedPath(name))
  }
}
