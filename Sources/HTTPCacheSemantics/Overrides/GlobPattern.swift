/// A target pattern with `*` and `**`, compared in one pass over the target.
struct GlobPattern: Sendable, Hashable {
  private static let lengthLimit = 1_024

  /// The normalised pattern: scheme and host in lower case, percent-encoding normalised.
  let text: String
  private let isPath: Bool
  private let hasQuery: Bool
  private let program: GlobProgram
  /// The program of the pattern in lower case; that of the pattern if it has no other letters.
  private let folded: GlobProgram

  init(_ form: String) throws(TargetPatternError) {
    guard form.utf8.count <= Self.lengthLimit else {
      throw TargetPatternError(form, "longer than \(Self.lengthLimit) octets")
    }
    isPath = form.utf8.first == UInt8(ascii: "/")
    guard form.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else {
      throw TargetPatternError(form, "it holds a space, a control character or '#'")
    }
    let lower = form.prefix(8).lowercased()
    guard
      isPath || form.utf8.first == UInt8(ascii: "*") || lower.hasPrefix("http://")
        || lower.hasPrefix("https://")
    else { throw TargetPatternError(form, "it begins with neither '/', '*', 'http://' nor 'https://'") }
    let octets = Self.normalized(Array(form.utf8))
    text = String(decoding: octets, as: UTF8.self)
    hasQuery = octets.contains(UInt8(ascii: "?"))
    program = GlobProgram(octets)
    let inLowerCase = octets.map(\.lowercased)
    folded = inLowerCase == octets ? program : GlobProgram(inLowerCase)
  }

  /// Whether a normalised target matches the pattern.
  ///
  /// - Parameter path: the index of the target's path.
  func matches(_ target: Octets, path: Int) -> Bool {
    let rest = target.part((isPath ? path : 0)..<target.count)
    if hasQuery { return program.accepts(rest) }
    return program.accepts(rest.part(0..<(rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.count)))
  }

  /// Whether the pattern may match a normalised target, or a form of it: false is certain.
  ///
  /// - Parameter path: the index of the target's path.
  func mayCover(_ target: Octets, path: Int) -> Bool {
    let start = isPath ? path : 0
    return hasQuery ? folded.mayBegin(target, from: start) : folded.mayAccept(target, from: start)
  }

  /// Whether a form of a normalised target matches the pattern, ignoring letter case.
  ///
  /// - Parameter path: the index of the target's path.
  func covers(_ target: Octets, path: Int) -> Bool {
    guard mayCover(target, path: path) else { return false }
    return TargetForm.any(of: target, pathStart: path) { form in
      folded.accepts(form.from(isPath ? path : 0, hasQuery: hasQuery))
    }
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.text == rhs.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private static func normalized(_ form: [UInt8]) -> [UInt8] {
    form.withUnsafeBufferPointer { form in
      var output: [UInt8] = []
      var path = 0
      if let authority = authorityStart(form) {
        path = form[authority...].firstIndex(of: UInt8(ascii: "/")) ?? form.count
        output.append(contentsOf: form[..<path].lazy.map(\.lowercased))
        // A pattern without a path means the origin's path, as in a normalised target.
        if path == form.count, form.last != UInt8(ascii: "*") { output.append(UInt8(ascii: "/")) }
      }
      TargetURI.appendNormalized(form.part(path..<form.count), to: &output)
      return output
    }
  }

  private static func authorityStart(_ octets: Octets) -> Int? {
    guard let colon = octets.firstIndex(of: UInt8(ascii: ":")), colon + 2 < octets.count,
      octets[colon + 1] == UInt8(ascii: "/"), octets[colon + 2] == UInt8(ascii: "/"),
      !octets[..<colon].contains(UInt8(ascii: "/"))
    else { return nil }
    return colon + 3
  }
}
