import HTTPCaching

/// The `userInfo` of a `CachedURLResponse` as bytes of a record: a binary property list.
enum UserInfo {
  /// The maximum number of bytes that are kept.
  static let limit = 64 << 10

  private static let signature = Array("bplist00".utf8)

  /// The bytes, and a description of values that could not be kept.
  static func encoded(_ dictionary: [AnyHashable: Any]) -> (bytes: [UInt8], problem: String?) {
    if dictionary.isEmpty { return ([], nil) }
    var kept: [String: Any] = [:]
    var dictionary = dictionary
    // The bytes of a hook, from a response of this cache that is stored again: the hook decides about them anew.
    dictionary[HTTPURLCache.hookUserInfoKey] = nil
    for (key, value) in dictionary {
      guard let key = key as? String else { continue }
      let entry = [key: value]
      if PropertyListSerialization.propertyList(entry, isValidFor: .binary) { kept[key] = value }
    }
    let lost = dictionary.count - kept.count
    let problem = lost > 0 ? "\(lost) entries of userInfo are no property lists" : nil
    if kept.isEmpty { return ([], problem) }
    guard
      let data = try? PropertyListSerialization.data(
        fromPropertyList: kept, format: .binary, options: 0)
    else { return ([], "userInfo is no property list") }
    guard data.count <= limit else {
      return ([], "userInfo has \(data.count) bytes, at most \(limit) are kept")
    }
    return (Array(data), problem)
  }

  /// The dictionary of a record: that of the caller, with the bytes of a hook under `HTTPURLCache.hookUserInfoKey`; nil
  /// without either.
  static func decoded(_ bytes: [UInt8]) -> [AnyHashable: Any]? {
    let parts = UserInfoParts(bytes)
    let dictionary = list(parts.caller)
    if parts.hook.isEmpty { return dictionary }
    return (dictionary ?? [:]).merging([HTTPURLCache.hookUserInfoKey: Data(parts.hook)]) { $1 }
  }

  /// The dictionary; nil for bytes that are not such a property list. Decoding makes only property list types.
  private static func list(_ bytes: [UInt8]) -> [AnyHashable: Any]? {
    guard bytes.count <= limit, bytes.starts(with: signature) else { return nil }
    let list = try? PropertyListSerialization.propertyList(
      from: Data(bytes), options: [], format: nil)
    return list as? [String: Any]
  }
}
