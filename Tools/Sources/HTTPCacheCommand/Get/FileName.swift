import Foundation

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
      let isControl = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
      name.unicodeScalars.append(isControl || scalar == "/" || scalar == "\\" ? "_" : scalar)
    }
    if let first = name.first, first == "." || first == "-" { name = "_" + name.dropFirst() }
    guard !name.isEmpty else { return "index.html" }
    return shortened(name, to: 200)
  }

  /// A name that is not taken: `name`, else `name-2` and so on before the extension.
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
    let ending = suffix.utf8.count <= 20 ? suffix : ""
    var kept = stem
    while kept.utf8.count + ending.utf8.count > limit { kept.removeLast() }
    return kept + ending
  }

  private static func parts(_ name: String) -> (stem: String, suffix: String) {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }
}
