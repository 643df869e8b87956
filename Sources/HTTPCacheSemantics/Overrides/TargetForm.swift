/// A target as an origin may look it up: in lower case, and without what frameworks drop at the end of a path.
///
/// Rails and Spring read `/account.css` as `/account`, Express and Django read `/account/` so. A script `/account.php`,
/// which may be the page `/account`, also answers `/account.php/x.css`.
struct TargetForm: RandomAccessCollection {
  /// The maximum number of scripts that are looked for in a path.
  private static let scriptLimit = 8

  private let target: Octets
  private let pathEnd: Int
  private let hasSlash: Bool
  private let queryStart: Int
  let startIndex: Int

  var endIndex: Int { pathEnd + (hasSlash ? 1 : 0) + target.count - queryStart }

  subscript(index: Int) -> UInt8 {
    if index < pathEnd { return target[index].lowercased }
    let rest = index - pathEnd
    if hasSlash { return rest == 0 ? UInt8(ascii: "/") : target[queryStart + rest - 1].lowercased }
    return target[queryStart + rest].lowercased
  }

  /// This form from an index on, with or without its query.
  func from(_ start: Int, hasQuery: Bool) -> TargetForm {
    TargetForm(
      target: target, pathEnd: pathEnd, hasSlash: hasSlash, queryStart: hasQuery ? queryStart : target.count,
      startIndex: start)
  }

  /// Whether a form of a target fulfils a condition.
  ///
  /// - Parameters:
  ///   - target: a normalised target.
  ///   - pathStart: the index of its path.
  ///   - holds: the condition. Its argument is valid only within the call.
  static func any(of target: Octets, pathStart: Int, _ holds: (TargetForm) -> Bool) -> Bool {
    let end = target[pathStart...].firstIndex(of: UInt8(ascii: "?")) ?? target.count
    func holdsUpTo(_ pathEnd: Int, hasSlash: Bool = false) -> Bool {
      holds(TargetForm(target: target, pathEnd: pathEnd, hasSlash: hasSlash, queryStart: end, startIndex: 0))
    }
    if holdsUpTo(end) { return true }
    var last = end
    while last > pathStart + 1, target[last - 1] == UInt8(ascii: "/") { last -= 1 }
    if last <= pathStart + 1 { return false }
    if last < end ? holdsUpTo(last) : holdsUpTo(end, hasSlash: true) { return true }
    let segment = (target[pathStart..<last].lastIndex(of: UInt8(ascii: "/")) ?? pathStart) + 1
    if let first = target[segment..<last].firstIndex(of: UInt8(ascii: ".")), first > segment {
      let final = target[segment..<last].lastIndex(of: UInt8(ascii: ".")) ?? first
      if holdsUpTo(first) || (final != first && holdsUpTo(final)) { return true }
    }
    return scriptEnds(target.part(0..<segment), pathStart: pathStart).contains { holdsUpTo($0) }
  }

  /// The ends of segments that have a dot and are not the last one, with and without what begins with the dot.
  private static func scriptEnds(_ folders: Octets, pathStart: Int) -> [Int] {
    var (ends, dot) = ([Int](), Int?.none)
    for index in folders.indices.dropFirst(pathStart + 1) where ends.count < 2 * scriptLimit {
      if folders[index] == UInt8(ascii: "/") {
        if let dot { ends += [dot, index] }
        dot = nil
      } else if folders[index] == UInt8(ascii: "."), dot == nil, folders[index - 1] != UInt8(ascii: "/") {
        dot = index
      }
    }
    return ends
  }
}
