public import HTTPCacheSemantics

/// Responses that ship with a program, such as a folder or an archive of HTTPCacheArchives. A `SeedLayer` answers
/// from it while the store has no response of its own.
///
/// A source has complete responses to GET, and does not change while it is open.
public protocol SeedSource: AnyObject, Sendable {
  /// The name of the source for messages, usually its path.
  var name: String { get }

  /// The number of its responses.
  var count: Int { get }

  /// The latest time at which one of its responses was received from the origin.
  var newest: Timestamp { get }

  /// The responses for a target, the one to prefer first.
  ///
  /// - Parameter target: a normalised target URI.
  /// - Throws: `CacheError`; the layer then asks the next source.
  func responses(to target: String) throws(CacheError) -> [SeedResponse]

  /// A part of the list of all responses, in a stable order.
  ///
  /// - Parameters:
  ///   - position: the number of responses to skip.
  ///   - limit: the maximum number of responses to return.
  /// - Returns: fewer than `limit` only at the end of the list.
  func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse]
}
