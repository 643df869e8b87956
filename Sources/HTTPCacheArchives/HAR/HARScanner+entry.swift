import Foundation
import HTTPCacheStore

extension HARScanner.Slice {
  /// Reads the entry.
  ///
  /// - Throws: `CacheError.damaged`, which names the member that is not as HAR 1.2 has it.
  func entry(_ decoder: JSONDecoder) throws(CacheError) -> HAREntry {
    if isTooLarge { throw CacheError(.damaged, "larger than 8 MiB without its body") }
    do { return try decoder.decode(HAREntry.self, from: Data(json)) } catch {
      throw CacheError(.damaged, "not as HAR 1.2 has it: \(Self.reason(error))")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "the entry is no JSON object" : "\(path(context.codingPath)) is of another kind"
    default: "the entry is no JSON object"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map(\.stringValue).joined(separator: ".")
  }
}
