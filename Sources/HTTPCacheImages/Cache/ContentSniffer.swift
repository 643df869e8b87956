import HTTPCacheSemantics
import HTTPCaching

/// Tells pages for people from images.
enum ContentSniffer {
  /// Whether bytes begin with printable ASCII characters only, which no image does.
  static func isText(_ bytes: BodyBytes) -> Bool {
    bytes.prefix(32).array.allSatisfy { $0 == 9 || $0 == 10 || $0 == 13 || (32..<127).contains($0) }
  }

  /// Keeps pages for people out of the store, if they say so.
  static let hook = StoringHook { _, proposal in
    guard proposal.head.status.code == 200 || proposal.head.status.code == 203,
      let type = contentType(of: proposal.head)
    else { return proposal }
    return isImage(type) ? proposal : nil
  }

  /// The media type in lower case, without parameters; nil if there is none.
  static func contentType(of head: HTTPResponse) -> String? {
    guard let value = head.headerFields[.contentType]?.split(separator: ";").first else { return nil }
    let type = value.drop { $0 == " " }.lowercased()
    return type.isEmpty ? nil : type
  }

  private static func isImage(_ type: String) -> Bool {
    type.hasPrefix("image/") || type == "application/octet-stream" || type == "binary/octet-stream"
  }
}
