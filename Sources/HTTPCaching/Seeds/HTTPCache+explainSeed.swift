import HTTPCacheSemantics
import HTTPCacheStore

extension HTTPCache {
  /// The step that tells of a seed among the stored responses; nil if there is none.
  func seedStep(_ variants: [StoredVariant]) -> CacheExplanation.Step? {
    guard let seed = variants.first(where: { $0.record.isSeed })?.record else { return nil }
    return CacheExplanation.Step(
      "Does a stored response ship with the program?",
      "yes: from a seed, received or last confirmed \(seed.response.responseTime.httpDate)", section: "",
      topic: .stored)
  }
}
