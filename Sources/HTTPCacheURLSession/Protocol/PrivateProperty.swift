import Synchronization

/// Reads stored properties that Foundation on Linux keeps private.
///
/// A mirror reads a property in microseconds, and finds it by its name only by reading all before it. So the
/// place of each property is remembered by type.
enum PrivateProperty {
  private struct Name: Hashable {
    let type: ObjectIdentifier
    let label: String
  }

  // Nil for a type without such a property.
  private static let places = Mutex<[Name: Int?]>([:])

  /// The value of a property of an object or of its superclasses; nil if there is no such property.
  static func value(_ label: String, of object: Any) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let place = place(of: label, in: current) {
        let children = current.children
        return children[children.index(children.startIndex, offsetBy: place)].value
      }
      mirror = current.superclassMirror
    }
    return nil
  }

  private static func place(of label: String, in mirror: Mirror) -> Int? {
    let name = Name(type: ObjectIdentifier(mirror.subjectType), label: label)
    if let known = places.withLock({ $0[name] }) { return known }
    let place = mirror.children.enumerated().first { $0.element.label == label }?.offset
    places.withLock { $0[name] = .some(place) }
    return place
  }
}
