import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// A request as recordings are searched for it.
struct ReplayRequest: Sendable {
  let method: String
  /// The normalised target URI, without secrets.
  let target: String
  let fields: HTTPFields
  /// The number of bytes of the content and their hash; nil if the recording has only the parameters of a form.
  let content: Content?
  /// The names and values of a form, decoded; nil for other content.
  let parameters: [FormParameter]?

  struct Content: Sendable, Hashable {
    let length: Int
    let hash: UInt64

    init(_ bytes: BodyBytes) {
      length = bytes.count
      hash = bytes.withUnsafeBytes { XXH64.hash($0) }
    }
  }

  /// The name for messages.
  var name: String { "\(method) \(target)" }

  /// Whether the request asks for a part, or has a condition: only then may a 206 or 304 answer it.
  func accepts(_ status: Int) -> Bool {
    switch status {
    case 206: fields.contains(.range)
    case 304: fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
    default: true
    }
  }

  /// The first part in which a recorded request differs; nil if it is equal.
  func difference(from recorded: ReplayRequest, _ matching: ReplayMatching) -> String? {
    if method != recorded.method { return "its method is \(recorded.method)" }
    if target != recorded.target {
      let isQuery = target.prefix { $0 != "?" } == recorded.target.prefix { $0 != "?" }
      return isQuery ? "its query differs" : "its URL differs"
    }
    for name in matching.fields where fields[name] != recorded.fields[name] {
      return "its \(name.rawName) is \(recorded.fields[name].map { "\"\($0)\"" } ?? "missing")"
    }
    guard matching.comparesContent else { return nil }
    let isEqual = recorded.content.map { $0 == content } ?? (recorded.parameters == parameters)
    return isEqual ? nil : "its content differs"
  }

  /// The names and values of a form (WHATWG URL §5.1), decoded; nil for other content.
  ///
  /// - Parameter type: the type of the content.
  static func parameters(of content: BodyBytes, type: String?) -> [FormParameter]? {
    guard type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else { return nil }
    return FormParameter.list(content.array)
  }
}
