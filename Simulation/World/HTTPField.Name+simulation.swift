import HTTPTypes

extension HTTPField.Name {
  /// Selects the representation.
  static let form = name("x-form")
  /// Names the representation that a head describes.
  static let representation = name("x-rep")
  /// Numbers the responses of the simulated origin.
  static let serial = name("x-serial")
  /// Asks the simulated origin for `Clear-Site-Data`.
  static let clear = name("x-clear")
  /// Asks the simulated origin for `Cache-Group-Invalidation`.
  static let invalidateGroup = name("x-invalidate-group")
  static let clearSiteData = name("clear-site-data")
  static let cacheGroups = name("cache-groups")
  static let cacheGroupInvalidation = name("cache-group-invalidation")

  private static func name(_ text: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no field name") }
    return name
  }
}
