import HTTPTypes

extension HTTPFields {
  /// The values of `Host`. swift-http-types has no name for this field, because there it is the authority.
  var hosts: [String] { filter { $0.name.canonicalName == "host" }.map(\.value) }

  /// Removes `Host`.
  mutating func removeHost() { removeAll { $0.name.canonicalName == "host" } }
}
