import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

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
