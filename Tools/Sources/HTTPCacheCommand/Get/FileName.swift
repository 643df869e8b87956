import Foundation
import HTTPCacheProxy

/// The name of the file that `get -O` writes.
enum FileName {
  /// The last component of a URL's path, made safe: no separators, no control characters, no
  /// leading dot or hyphen, at most 200 bytes.
  ///
  /// - Parameter path: path and query of a URL.
  static func safe(from path: String) -> String {
    let last = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last.map(String.init) ?? ""
    return safe(name: last.removingPercentEncoding ?? last)
  }

  /// A name from an origin, made safe as the name from a URL.
  static func safe(name given: String) -> String {
    var name = ""
    for scalar in given.unicodeScalars {
      let isUnsafe = LogText.isUnsafe(scalar) || scalar == "/" || scalar == "\\"
      name.unicodeScalars.append(isUnsafe ? "_" : scalar)
    }
    name = shortened(name, to: 200)
    // A file is hidden by its first scalar: a character may be a dot with marks.
    if let first = name.unicodeScalars.first, first == "." || first == "-" {
      name = "_" + String(name.unicodeScalars.dropFirst())
    }
    return name.isEmpty ? "index.html" : name
  }

  /// A name that is not taken: `name`, else `name-2` and so on before the extension, before `.tar.gz` as a whole.
  static func unique(_ name: String, isTaken: (String) -> Bool) -> String {
    var candidate = name
    var number = 2
    while isTaken(candidate) {
      let (stem, suffix) = parts(name)
      candidate = "\(stem)-\(number)\(suffix)"
      number += 1
    }
    return candidate
  }

  private static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    let (stem, suffix) = parts(name)
    let isEnding = suffix.utf8.count <= 20
    let ending = isEnding ? suffix : ""
    var kept = isEnding ? stem : name
    // One character may have hundreds of marks.
    while kept.utf8.count + ending.utf8.count > limit { kept.unicodeScalars.removeLast() }
    return kept + ending
  }

  /// The endings of files that hold another file, which has an ending of its own: `data.tar.gz`.
  private static let wrappings: Set<String> = [
    ".gz", ".bz2", ".xz", ".zst", ".lz", ".lz4", ".lzma", ".br", ".z", ".asc", ".sig",
  ]

  private static func parts(_ name: String) -> (stem: String, suffix: String) {
    var (stem, suffix) = (name[...], "")
    while let dot = stem.lastIndex(of: "."), dot > stem.startIndex {
      let ending = stem[dot...]
      // The digits of a version are no ending: `tool-1.2.gz`.
      guard suffix.isEmpty || ending.dropFirst().first?.isLetter == true && ending.utf8.count <= 9 else {
        break
      }
      (stem, suffix) = (stem[..<dot], String(ending) + suffix)
      guard wrappings.contains(ending.lowercased()) else { break }
    }
    return (String(stem), suffix)
  }
}
