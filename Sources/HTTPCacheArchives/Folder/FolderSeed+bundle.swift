public import Foundation
public import HTTPCacheStore

extension FolderSeed {
  /// Opens a folder of a bundle, such as a folder reference `PreCache` of an app.
  ///
  /// - Parameters:
  ///   - name: the path of the folder below the bundle's resources.
  ///   - bundle: the bundle; by default the app's.
  ///   - options: how the folder is read.
  /// - Throws: as `init(path:options:)`; `CacheError.io` if the bundle has no such folder.
  public convenience init(
    bundled name: String, in bundle: Bundle = .main, options: Options = Options()
  ) throws(CacheError) {
    try self.init(path: try bundle.seedPath(name), options: options)
  }
}

extension Bundle {
  /// The path of a resource.
  ///
  /// - Throws: `CacheError.io` if the bundle has no resources.
  func seedPath(_ name: String) throws(CacheError) -> String {
    guard let folder = resourceURL else { throw CacheError(.io, "the bundle has no resources: \(name)") }
    return folder.appendingPathComponent(name).path
  }
}
