import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// How a response is stored, after the hooks decided.
struct StoringTerms: Sendable {
  var response: StoredResponse
  var userInfo: [UInt8] = []
  var isPinned = false
  var isMemoryOnly = false
  /// Fields that must not be stored from the trailers either.
  var strippedNames: Set<HTTPField.Name> = []

  /// The record of a response that is about to be stored.
  ///
  /// - Parameters:
  ///   - head: the head as it arrived.
  ///   - length: the length of its content in bytes; nil if it is unknown.
  ///   - replacesParts: whether a part of its body may take the place of a stored part.
  func record(
    for key: CacheKey, head: HTTPResponse, length: Int64?, ticket: InvalidationTicket?,
    replacesParts: Bool = true
  ) -> CacheRecord {
    let part = PartialContent.part(of: head)
    return CacheRecord(
      key: key, response: response, bodyLength: part == nil ? length : part?.length,
      storedRanges: part.map { [$0.range] }, groups: CacheGroups.names(of: head), userInfo: userInfo,
      isPinned: isPinned, isMemoryOnly: isMemoryOnly,
      isResumable: replacesParts && PartialContent.isResumable(response), ticket: ticket)
  }

  /// The record of a stored response under these terms.
  func applied(to record: CacheRecord) -> CacheRecord {
    record.with(
      response: response, groups: CacheGroups.names(of: response.head), userInfo: userInfo,
      isPinned: isPinned, isMemoryOnly: isMemoryOnly)
  }
}

/// The decision of the hooks.
enum StoringDecision: Sendable {
  case store(StoringTerms)
  case refuse(StorageRefusal)
}

extension HTTPFields {
  /// The fields except those with these names.
  func without(_ names: Set<HTTPField.Name>) -> HTTPFields {
    guard !names.isEmpty else { return self }
    var fields = self
    fields.removeAll { names.contains($0.name) }
    return fields
  }
}

/// The question that a hook answers, and the settings for asking it.
struct HookQuestion: Sendable {
  let hook: StoringHook
  let request: HTTPRequest
  let key: CacheKey
  /// The normalised target URI of the request.
  let target: String
  /// Resolved for the request.
  let rules: CacheRules
  let turn: HookTurn
}
