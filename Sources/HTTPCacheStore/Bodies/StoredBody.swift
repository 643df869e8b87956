/// A stored body that can be opened.
public protocol StoredBody: AnyObject, Sendable {
  /// Opens it.
  ///
  /// - Throws: `CacheError.io` or `CacheError.damaged`, when it is gone or not what its record says.
  func open() throws(CacheError) -> any BodyReader
}
