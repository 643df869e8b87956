public import HTTPTypes

extension HTTPField.Name {
  /// `Cache-Groups`: the groups of its origin's responses that a response belongs to, a list of strings
  /// (RFC 9875 §2).
  public static var cacheGroups: HTTPField.Name { FieldNames.cacheGroups }

  /// `Cache-Group-Invalidation`: the groups that the response to an unsafe request invalidates, a list of strings
  /// (RFC 9875 §3).
  public static var cacheGroupInvalidation: HTTPField.Name { FieldNames.cacheGroupInvalidation }
}
