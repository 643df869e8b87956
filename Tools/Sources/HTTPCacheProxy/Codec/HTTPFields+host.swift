import HTTPTypes

extension HTTPFields {
  /// The values of `Host`, which swift-http-types has no name for: there it is the authority.
  var hosts: [String] { filter { $0.name.canonicalName == "host" }.map(\.value) }

  /// Takes `Host` out.
  mutating func removeHost() { removeAll { $0.name.canonicalName == "host" } }
}
