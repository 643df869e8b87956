/// The bytes that are kept with a stored response: those of a hook, and those of the caller that stored the response
/// itself (`HTTPURLCache`). With bytes of one of them alone, they are kept as they are.
package struct UserInfoParts: Sendable, Hashable {
  /// Begins bytes of both. Neither a property list nor text begins so.
  private static let signature: [UInt8] = [0xFF, 0x00, 0x48, 0x43, 0x55, 0x49, 0x01, 0xFF]
  private static let headLength = signature.count + 8
  /// Begins a binary property list, the form in which `HTTPURLCache` keeps a dictionary.
  private static let propertyList = Array("bplist".utf8)

  /// The bytes of a hook; a property list only beside other bytes of the caller.
  package var hook: [UInt8]
  /// The property list of the caller.
  package var caller: [UInt8]

  /// Takes the bytes of a record apart.
  package init(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headLength, bytes.starts(with: Self.signature) else {
      let isList = bytes.starts(with: Self.propertyList)
      (hook, caller) = isList ? ([], bytes) : (bytes, [])
      return
    }
    let length = bytes[Self.signature.count..<Self.headLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let rest = bytes[Self.headLength...]
    let count = Int(min(length, UInt64(rest.count)))
    (hook, caller) = (Array(rest.prefix(count)), Array(rest.dropFirst(count)))
  }

  /// The bytes that a hook sees and changes, and answers have: its own, or without any those of the caller.
  package var shown: [UInt8] { hook.isEmpty ? caller : hook }

  /// The parts after a hook has changed what it was shown.
  func changed(to bytes: [UInt8]) -> UserInfoParts {
    if bytes == shown { return self }
    var parts = self
    let editsList = hook.isEmpty && (bytes.isEmpty || bytes.starts(with: Self.propertyList))
    if editsList { parts.caller = bytes } else { parts.hook = bytes }
    return parts
  }

  /// The bytes of a record.
  var bytes: [UInt8] {
    if hook.isEmpty { return caller }
    if caller.isEmpty, !hook.starts(with: Self.signature) { return hook }
    let length = UInt64(hook.count)
    return Self.signature + (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) }
      + hook
      + caller
  }
}
