public import HTTPTypes

/// Names that responses give to cache items, so that several targets of one origin share an item.
///
/// The name is an opaque text, not a URI: it counts within the origin, partition and mode of the
/// response that gives it, and cannot reach beyond.
public enum CacheAlias {
  /// The longest name in octets.
  public static let lengthLimit = 256

  /// What a response says of its cache item.
  public enum Reading: Sendable, Hashable {
    /// Nothing.
    case absent
    /// It belongs to the item with this key target.
    case item(target: String)
    /// Something that is not obeyed.
    case refused(Refusal)
  }

  /// Why a name is not obeyed: the response is stored under its own target.
  public enum Refusal: String, Sendable, Hashable, CustomStringConvertible {
    /// It is empty.
    case empty
    /// It is longer than `lengthLimit`.
    case tooLong
    /// It holds spaces, control characters or octets outside of ASCII.
    case badOctets
    /// There are several lines that differ.
    case contradictory
    /// It is a URL of another origin.
    case otherOrigin

    /// A few words for people.
    public var description: String {
      switch self {
      case .empty: "it is empty"
      case .tooLong: "it is longer than \(CacheAlias.lengthLimit) octets"
      case .badOctets: "it holds octets that no name has"
      case .contradictory: "there are several"
      case .otherOrigin: "it names another origin"
      }
    }
  }

  /// Reads what a response says of its cache item.
  ///
  /// - Parameters:
  ///   - name: the field.
  ///   - fields: of the response.
  ///   - target: the normalised target URI that was asked for.
  public static func read(
    _ name: HTTPField.Name, in fields: HTTPFields, target: String
  ) -> Reading {
    let lines = fields[fields: name]
    guard let first = lines.first else { return .absent }
    guard lines.dropFirst().allSatisfy({ $0.value == first.value }) else {
      return .refused(.contradictory)
    }
    return first.withUnsafeBytesOfValue { octets in
      read(octets.trimmed(), name: name, target: target)
    }
  }

  private static func read(_ octets: Octets, name: HTTPField.Name, target: String) -> Reading {
    if octets.isEmpty { return .refused(.empty) }
    if octets.count > lengthLimit { return .refused(.tooLong) }
    guard octets.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .refused(.badOctets) }
    guard let origin = TargetURI.origin(of: target) else { return .refused(.otherOrigin) }
    let value = octets.text
    if value.hasPrefix("//") || value.contains("://") {
      guard let resolved = TargetURI.resolved(value, against: target),
        TargetURI.origin(of: resolved) == origin
      else { return .refused(.otherOrigin) }
    }
    // No normalised target has a fragment, so none is an item's.
    var item = Array("\(origin)/#\(name.canonicalName)=".utf8)
    FormParameter.append(Array(octets), to: &item)
    return .item(target: String(decoding: item, as: UTF8.self))
  }
}
