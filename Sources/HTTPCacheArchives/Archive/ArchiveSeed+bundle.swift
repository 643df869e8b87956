public import Foundation
public import HTTPCacheStore

extension ArchiveSeed {
  /// Opens an archive of a bundle.
  ///
  /// - Parameters:
  ///   - name: the path of the archive below the bundle's resources, such as `content.hca`.
  ///   - bundle: the bundle; by default the app's.
  /// - Throws: as `init(path:)`; `CacheError.io` if the bundle has no such file.
  public convenience init(bundled name: String, in bundle: Bundle = .main) throws(CacheError) {
    try self.init(path: try bundle.seedPath(name))
  }
}
