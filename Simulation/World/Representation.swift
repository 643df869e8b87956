import HTTPCacheStore

/// A representation that an origin sends for a target. Its bytes name the target, the representation and the
/// version, and the rest follows from these.
struct Representation: Hashable, Sendable {
  let target: Int
  /// `a` and `b` are for one form each, `n` and `s` for all forms.
  let name: String
  let version: Int

  /// The value of the field `x-rep`.
  var label: String { "t\(target).\(name).v\(version)" }

  /// The bytes of the whole body.
  ///
  /// - Parameter length: the least number of bytes.
  func bytes(length: Int) -> [UInt8] {
    var bytes = Array("|\(label)|".utf8)
    var state = UInt8(
      truncatingIfNeeded: 31 &* target &+ 7 &* version &+ name.utf8.reduce(0) { $0 &+ Int($1) })
    while bytes.count < length + version % 5 {
      state = state &* 5 &+ 17
      bytes.append(state)
    }
    return bytes
  }

  /// Reads the value of `x-rep`, or the beginning of a body without its first byte.
  init?(label: some StringProtocol) {
    let parts = label.split(separator: ".")
    guard parts.count == 3, parts[0].first == "t", parts[2].first == "v",
      let target = Int(parts[0].dropFirst()),
      let version = Int(parts[2].dropFirst())
    else { return nil }
    self.init(target: target, name: String(parts[1]), version: version)
  }

  init(target: Int, name: String, version: Int) {
    self.target = target
    self.name = name
    self.version = version
  }

  /// The representation that the bytes of a body name.
  static func of(body: [UInt8]) -> Representation? {
    guard body.first == UInt8(ascii: "|"), let end = body.dropFirst().firstIndex(of: UInt8(ascii: "|")) else {
      return nil
    }
    return Representation(label: String(decoding: body[1..<end], as: UTF8.self))
  }
}
