import HTTPCacheFuzzing

/// Makes spellings of a path that some server may read as the path.
struct SpellingGenerator {
  private var random: Seeded

  init(seed: UInt64) { random = Seeded(seed: seed) }

  private static let before = [
    "/", "/.", "//", "/\\", "/%5c", "/x/..", "/x/%2e%2e", "/x/..%2f", "/x/..;", "/x/..;a", "/x/%252e%252e",
    "/x\\..",
    "/x%2f..", "/x/%c0%ae%c0%ae", "/..", "//h.example", "/x/..%c0%af", "/x/..%ef%bc%8f", "/%u002f", "/x//..",
    "/x/..%00",
    "/%2e", "/;a", "/x/.%20./..",
  ]
  private static let after = [
    "/", "//", ".css", ".a.css", ";x", ";x.css", "%3bx", "?x", "%3fx.css", "%23x", "%20", "%20.", ".", "..",
    "%00",
    "%00x.css", "%0a", "%0ax", "/x.css", "/..;/secret", "\\x.css", "%5cx", "%2fx", "%2Fx.css", "::$DATA",
    "%c0%afx",
    "%ef%bc%8fx", "%252fx", "%253bx", "/.", "/./", "/x/..", "/%2e%2e/secret", ".php/x.css", ";jsessionid=1/x",
    "%09",
    "#x",
  ]
  private static let slashes = [
    "%2f", "%2F", "\\", "%5c", "//", "/./", "%252F", "%c0%af", "%ef%bc%8f", "/;a/", "%u002F",
  ]

  mutating func next(of page: String) -> String {
    var path = Bool.random(using: &random) ? page : page + "/me"
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: path = (Self.before.randomElement(using: &random) ?? "") + path
      case 1, 2: path += Self.after.randomElement(using: &random) ?? ""
      case 3: path = encodingOne(of: path)
      case 4: path = changingCase(of: path)
      default: path = replacingSlash(in: path)
      }
    }
    return path.hasPrefix("/") ? path : "/" + path
  }

  private mutating func encodingOne(of path: String) -> String {
    var octets = Array(path.utf8)
    let index = Int.random(in: octets.indices, using: &random)
    let hex = String(octets[index], radix: 16)
    let escape = Bool.random(using: &random) ? "%" : "%25"
    octets.replaceSubrange(index...index, with: Array((escape + (hex.count < 2 ? "0" : "") + hex).utf8))
    return String(decoding: octets, as: UTF8.self)
  }

  private mutating func changingCase(of path: String) -> String {
    var result = ""
    for character in path {
      result += Bool.random(using: &random) ? character.uppercased() : character.lowercased()
    }
    return result
  }

  private mutating func replacingSlash(in path: String) -> String {
    let places = path.indices.filter { path[$0] == "/" }.dropFirst()
    guard let place = places.randomElement(using: &random) else { return "/" + path }
    return String(path[..<place]) + (Self.slashes.randomElement(using: &random) ?? "/")
      + String(path[path.index(after: place)...])
  }
}
