import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// What a response is stored as, once the hooks have seen it.
struct StoringTerms: Sendable {
  var response: StoredResponse
  var userInfo: [UInt8] = []
  var isPinned = false
  var isMemoryOnly = false
  /// Fields that must not be stored from the trailers either.
  var strippedNames: Set<HTTPField.Name> = []

  /// The record of a stored response with these terms.
  func applied(to record: CacheRecord) -> CacheRecord {
    record.with(
      response: response, groups: CacheGroups.names(of: response.head), userInfo: userInfo,
      isPinned: isPinned, isMemoryOnly: isMemoryOnly)
  }
}

/// What the hooks decided.
enum StoringDecision: Sendable {
  case store(StoringTerms)
  case refuse(StorageRefusal)
}

extension HTTPFields {
  /// The fields without those of some names.
  func without(_ names: Set<HTTPField.Name>) -> HTTPFields {
    guard !names.isEmpty else { return self }
    var fields = self
    fields.removeAll { names.contains($0.name) }
    return fields
  }
}
