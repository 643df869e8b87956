public import HTTPTypes

extension HTTPField.Name {
  /// `Cache-Groups` (RFC 9875 §2): a list of quoted strings, the groups of a response within its origin.
  public static let cacheGroups = FieldNames.name("Cache-Groups")

  /// `Cache-Group-Invalidation` (RFC 9875 §3): a list of quoted strings in the response to an unsafe request, the
  /// groups of the origin whose stored responses it invalidates.
  public static let cacheGroupInvalidation = FieldNames.name("Cache-Group-Invalidation")
}
