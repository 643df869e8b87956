package import HTTPTypes

/// Names that responses give to cache items, so that several targets of one origin share an item.
///
/// The name is opaque text, not a URI. It is valid only within the origin, partition and mode of the response.
package enum CacheAlias {
  /// The longest name in octets.
  package static let lengthLimit = 256

  /// The cache item that a response names.
  package enum Reading: Sendable, Hashable {
    /// No item.
    case absent
    /// The item with this key target.
    case item(target: String)
    /// A name that is not obeyed.
    case refused(Refusal)
  }

  /// Why a name is not obeyed: the response is stored under its own target.
  package enum Refusal: String, Sendable, Hashable, CustomStringConvertible {
    /// It is empty.
    case empty
    /// It is longer than `lengthLimit`.
    case tooLong
    /// It contains spaces, control characters or octets outside of ASCII.
    case badOctets
    /// Several lines differ.
    case contradictory
    /// It is a URL of another origin.
    case otherOrigin

    package var description: String {
      switch self {
      case .empty: "it is empty"
      case .tooLong: "it is longer than \(CacheAlias.lengthLimit) octets"
      case .badOctets: "it holds octets that no name has"
      case .contradictory: "there are several"
      case .otherOrigin: "it names another origin"
      }
    }
  }

  /// Reads the cache item that a response names.
  ///
  /// - Parameters:
  ///   - name: the field that contains the name.
  ///   - fields: the fields of the response.
  ///   - target: the normalised target URI of the request.
  package static func read(
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
    // A normalised target has no fragment, so this cannot be the target of another response.
    return .item(target: "\(origin)/#\(name.canonicalName)=" + TargetURI.percentEncoded(octets))
  }
}
