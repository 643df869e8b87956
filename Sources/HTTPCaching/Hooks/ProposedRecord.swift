public import HTTPCacheSemantics
public import HTTPTypes

/// A response that is about to be stored, or a stored response that is about to be freshened (RFC 9111 §3.2).
/// A `StoringHook` reads and changes it.
///
/// Reuse is decided by the head as the hook leaves it. Changes that would make an answer wrong are ignored:
/// - of the status;
/// - of `Vary`, `No-Vary-Search` and a field that names a shared item, which decide how the response is found;
/// - of `Content-Length`, `Content-Range`, `Content-Encoding` and `Transfer-Encoding`, which describe the body;
/// - of `Date` and `Age`, which tell its age;
/// - of `ETag`, `Last-Modified`, `Repr-Digest`, `Content-Digest` and `Content-MD5`: a hook may remove them, but
///   neither change nor add them.
///
/// A response that may not be stored with the hook's changes, for example with an added `no-store`, is not
/// stored.
public struct ProposedRecord: Sendable {
  /// The key of the response.
  public let key: CacheKey
  /// Status and fields as they would be stored.
  public var head: HTTPResponse
  /// Opaque bytes that are kept with the response and returned with each answer from it. The whole record, head
  /// included, has at most 1 MiB. Empty for a new response.
  public var userInfo: [UInt8]
  /// Where it may be stored. A response in memory stays in memory when it is freshened; an entry on disk is
  /// removed if the hook allows memory only.
  public var storagePolicy: StoragePolicy
  /// Whether it is exempt from eviction. Pinned entries still count towards usage.
  public var isPinned: Bool
  /// Whether it is stored already, and gets new fields from a 304, a 206 or an answer to HEAD.
  public let isFreshening: Bool

  /// Makes a proposal, for example in a test of a hook.
  public init(
    key: CacheKey, head: HTTPResponse, userInfo: [UInt8] = [],
    storagePolicy: StoragePolicy = .allowed, isPinned: Bool = false, isFreshening: Bool = false
  ) {
    self.key = key
    self.head = head
    self.userInfo = userInfo
    self.storagePolicy = storagePolicy
    self.isPinned = isPinned
    self.isFreshening = isFreshening
  }
}

extension StoredResponse {
  /// The response with the head that a hook returned, except for changes that would make an answer wrong: see
  /// `ProposedRecord`.
  func changed(by proposed: HTTPResponse, rules: CacheRules) -> StoredResponse {
    var fields = proposed.headerFields
    let original = head.headerFields
    let found = rules.alias.map { [$0] } ?? []
    for name in HTTPField.Name.fixedWhenStored + found { fields[fields: name] = original[fields: name] }
    for name in HTTPField.Name.evidence where fields.contains(name) {
      fields[fields: name] = original[fields: name]
    }
    var result = self
    result.head.headerFields = fields
    result.head = FieldHygiene.storable(result.head, rules: rules)
    result.facts = Freshness.facts(
      response: result.head, requestTime: requestTime, responseTime: responseTime, rules: rules)
    return result
  }
}

extension HTTPField.Name {
  /// Fields that decide how a response is found, describe its body, or tell its age.
  fileprivate static let fixedWhenStored: [HTTPField.Name] = [
    .vary, .contentLength, .contentRange, .contentEncoding, .transferEncoding, .date, .age,
    FieldNames.noVarySearch,
  ]

  /// Fields that tell one representation from another.
  fileprivate static let evidence: [HTTPField.Name] = [
    .eTag, .lastModified, FieldNames.reprDigest, FieldNames.contentDigest, FieldNames.contentMD5,
  ]
}
