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
