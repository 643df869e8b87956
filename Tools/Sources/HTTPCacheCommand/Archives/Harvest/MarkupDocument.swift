import CMarkup

/// The elements of an HTML or XML document, which may be made of anything. Nothing is fetched.
struct MarkupDocument: ~Copyable {
  private let document: OpaquePointer

  /// Reads HTML; nil if nothing can be read.
  ///
  /// - Parameter encoding: the charset; nil lets the document tell.
  init?(html bytes: [UInt8], encoding: String?) {
    guard let document = Self.read(bytes, { markup_html($0, $1, encoding) }) else { return nil }
    self.document = document
  }

  /// Reads XML; nil if nothing can be read.
  init?(xml bytes: [UInt8]) {
    guard let document = Self.read(bytes, markup_xml) else { return nil }
    self.document = document
  }

  private static func read(
    _ bytes: [UInt8], _ parse: (UnsafePointer<CChar>?, Int32) -> OpaquePointer?
  ) -> OpaquePointer? {
    guard let count = Int32(exactly: bytes.count), count > 0 else { return nil }
    return bytes.withUnsafeBytes { parse($0.bindMemory(to: CChar.self).baseAddress, count) }
  }

  deinit { markup_free(document) }

  /// The current element.
  struct Element {
    fileprivate let document: OpaquePointer

    /// The name in lower case, without a namespace.
    var name: String { markup_name(document).map { String(cString: $0).lowercased() } ?? "" }

    /// The text of the element and its descendants.
    var text: String { Self.taken(markup_text(document)) ?? "" }

    /// The value of an attribute; nil if there is none.
    subscript(name: String) -> String? { Self.taken(markup_attribute(document, name)) }

    private static func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
      guard let text else { return nil }
      defer { markup_free_text(text) }
      return String(cString: text)
    }
  }

  /// Calls `visit` for each element in the order of the document, once.
  func forEach(_ visit: (Element) -> Void) {
    while markup_next(document) != 0 { visit(Element(document: document)) }
  }
}
