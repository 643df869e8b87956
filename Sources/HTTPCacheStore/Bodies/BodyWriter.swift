public import HTTPTypes

/// Writes one body. One task writes; a writer that is dropped without `commit` is abandoned and
/// leaves nothing that could be taken for a complete response.
public protocol BodyWriter: AnyObject, Sendable {
  /// Bytes appended so far.
  var bytesWritten: Int64 { get }

  /// Appends bytes. After an error the writer takes no more, but its reader still reads what was
  /// appended before.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.tooLarge`.
  func append(_ bytes: BodyBytes) async throws(CacheError)

  /// Makes the response visible, replacing what its variant had. For a part of a body
  /// (`CacheRecord.storedRanges`, `CacheStore.extend`) fewer bytes may have come than were
  /// announced: what came is stored.
  ///
  /// - Parameter trailers: the trailer fields that may be stored.
  /// - Returns: the record as stored.
  /// - Throws: `CacheError`; the response is then not stored.
  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord

  /// Ends before the body is complete, and stores what was appended as a partial response. Afterwards
  /// the writer takes no more.
  ///
  /// - Returns: the record as stored; nil if nothing is worth keeping, or the record is not resumable.
  /// - Throws: `CacheError`; nothing that was not stored before is stored then.
  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord?

  /// Gives up; calling it again, or after `commit`, does nothing.
  func abandon()

  /// A reader of the growing body.
  ///
  /// - Throws: `CacheError.io`.
  func reader() throws(CacheError) -> any BodyReader
}
