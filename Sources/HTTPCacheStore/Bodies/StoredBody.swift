/// A stored body that can be opened.
public protocol StoredBody: AnyObject, Sendable {
  /// Opens the body.
  ///
  /// - Throws: `CacheError.io` or `CacheError.damaged` if the body is gone or does not match its record.
  func open() throws(CacheError) -> any BodyReader
}
