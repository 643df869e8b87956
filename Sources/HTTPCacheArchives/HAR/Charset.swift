import Foundation

/// The `charset` of a media type.
enum Charset {
  private static func named(_ type: String?) -> String? {
    type?.split(separator: ";").dropFirst().lazy
      .map { $0.lowercased().filter { $0 != "\"" && $0 != " " } }
      .first { $0.hasPrefix("charset=") }
      .map { String($0.dropFirst("charset=".count)) }
  }

  /// Whether a type names UTF-8 or means it.
  static func isUTF8(_ type: String?) -> Bool {
    named(type).map { ["utf-8", "utf8"].contains($0) } ?? MediaType.isJSON(type)
  }

  /// Whether a type names neither UTF-8 nor its subset ASCII.
  static func isOther(_ type: String?) -> Bool {
    named(type).map { !["utf-8", "utf8", "us-ascii"].contains($0) } ?? false
  }

  /// The type of a text that was converted to UTF-8.
  static func utf8(_ type: String?) -> String? {
    guard let type else { return nil }
    let parts = type.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    let kept = parts.enumerated().filter { $0.offset == 0 || !$0.element.lowercased().hasPrefix("charset=") }
    return (kept.map(\.element) + ["charset=utf-8"]).joined(separator: "; ")
  }
}
