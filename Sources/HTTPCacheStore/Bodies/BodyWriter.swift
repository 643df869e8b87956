public import HTTPTypes

/// Writes one body. One task writes. A writer that is dropped without `commit` is abandoned and leaves nothing
/// that could be taken for a complete response.
public protocol BodyWriter: AnyObject, Sendable {
  /// Bytes appended so far.
  var bytesWritten: Int64 { get }

  /// Appends bytes. After an error the writer takes no more bytes, but its reader still reads the bytes
  /// appended before.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.tooLarge`.
  func append(_ bytes: BodyBytes) async throws(CacheError)

  /// Makes the response visible, in place of the response that its variant had. A part of a body
  /// (`CacheRecord.storedRanges`, `CacheStore.extend`) may be shorter than announced: the bytes that arrived
  /// are stored.
  ///
  /// - Parameter trailers: the trailer fields that may be stored.
  /// - Returns: the record as stored; with the sequence number 0 if the response was evicted at once, because what is
  ///   stored is worth more.
  /// - Throws: `CacheError`; the response is then not stored.
  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord

  /// Ends before the body is complete, and stores the appended bytes as a partial response. Afterwards the
  /// writer takes no more bytes. The default implementation abandons the body.
  ///
  /// - Returns: the record as stored; nil if nothing is worth keeping, or the record is not resumable.
  /// - Throws: `CacheError`; the store is then unchanged.
  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord?

  /// Discards the body. Does nothing after an earlier call or after `commit`.
  func abandon()

  /// A reader of the growing body.
  ///
  /// - Throws: `CacheError.io`.
  func reader() throws(CacheError) -> any BodyReader
}

extension BodyWriter {
  /// Abandons the body.
  ///
  /// - Returns: nil.
  @discardableResult
  public func keep() async throws(CacheError) -> CacheRecord? {
    abandon()
    return nil
  }
}
