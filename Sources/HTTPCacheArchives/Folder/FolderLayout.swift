import HTTPCacheSemantics

/// The layout of EVURLCache: `host/path`; `index.html` is added to a path whose last name has no dot, `_query` to
/// a path with a query. A port is part of the host's folder: `localhost_8080`.
///
/// Scheme and fragment are not part of a path: a file answers `http` and `https`.
enum FolderLayout {
  /// The paths below the folder at which the response for a target may be, the one to prefer first.
  ///
  /// - Parameters:
  ///   - target: a normalised target URI.
  ///   - alias: the name that stands for its path; nil for the path.
  static func paths(of target: String, alias: String? = nil) -> [String] {
    guard let parts = TargetURI.parts(of: target) else { return [] }
    let end = parts.path.firstIndex(of: "?")
    guard let path = alias ?? decoded(parts.path[..<(end ?? parts.path.endIndex)]) else { return [] }
    let host = parts.authority.replacing(":", with: "_")
    let names = path.split(separator: "/").map(String.init)
    // Such a name is in no folder; the layout has no way to write it.
    if names.contains("..") || names.contains(".") { return [] }
    let file = ([host] + names).joined(separator: "/")
    var found: [String]
    if path.hasSuffix("/") {
      found = ["\(file)/index.html"]
      if names.last?.contains(".") == true { found.append(file) }
    } else if names.last?.contains(".") == true {
      found = [file]
    } else {
      found = ["\(file)/index.html", file]
    }
    guard let end else { return found }
    let query = parts.path[parts.path.index(after: end)...]
    return found.flatMap { path in
      [decoded(query), String(query)].compactMap { $0.map { "\(path)_\($0)" } }
    }
  }

  /// The target that a file answers, for a list; nil for a file that is in no host's folder.
  ///
  /// Several targets have the same path; this is the one with `https`, and a `/` instead of `index.html`.
  static func target(of path: String) -> String? {
    var names = path.split(separator: "/").map(String.init)
    guard names.count > 1, let last = names.popLast(), let host = names.first else { return nil }
    var (name, query) = (last, String?.none)
    if let end = endOfName(last) {
      name = String(last[..<end])
      query = String(last[last.index(after: end)...])
    }
    let folders = names.dropFirst().map { "/" + encoded($0) }.joined()
    let path = folders + "/" + (name == "index.html" ? "" : encoded(name))
    return TargetURI.normalized(
      "https://\(authority(host))\(path)" + (query.map { "?" + encoded($0, isQuery: true) } ?? ""))
  }

  /// The targets that a file may answer: with `https` and `http`, with `index.html` and without, with a `/` at the end
  /// and without. Some have another file that comes first (`paths`).
  static func targets(of path: String) -> [String] {
    guard let target = target(of: path), let parts = TargetURI.parts(of: target) else { return [] }
    let end = parts.path.firstIndex(of: "?") ?? parts.path.endIndex
    let (path, query) = (String(parts.path[..<end]), String(parts.path[end...]))
    var paths = [path]
    if path.hasSuffix("/") {
      paths += [path + "index.html", String(path.dropLast())]
    } else {
      paths.append(path + "/")
    }
    return ["https", "http"].flatMap { scheme in
      paths.compactMap { TargetURI.normalized("\(scheme)://\(parts.authority)\($0)\(query)") }
    }
  }

  /// The `_` between a name with a known extension and a query.
  private static func endOfName(_ name: String) -> String.Index? {
    var start = name.startIndex
    while let mark = name[start...].firstIndex(of: "_") {
      if let dot = name[..<mark].lastIndex(of: "."),
        MediaType.ofExtension(String(name[name.index(after: dot)..<mark])) != nil
      {
        return mark
      }
      start = name.index(after: mark)
    }
    return nil
  }

  /// The name of a file without the query that the layout appended.
  static func nameWithoutQuery(_ name: String) -> String {
    endOfName(name).map { String(name[..<$0]) } ?? name
  }

  private static func authority(_ host: String) -> String {
    guard let mark = host.lastIndex(of: "_") else { return host }
    let port = host[host.index(after: mark)...]
    guard !port.isEmpty, port.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return host }
    return "\(host[..<mark]):\(port)"
  }

  /// The text without percent-encoding; nil if no file's name can have it.
  static func decoded(_ text: Substring) -> String? {
    TargetURI.percentDecoded(text).flatMap { $0.utf8.contains(0) ? nil : $0 }
  }

  private static func encoded(_ text: String, isQuery: Bool = false) -> String {
    TargetURI.percentEncoded(text.utf8, allowed: "!$&'()*+,;=:@" + (isQuery ? "/?" : ""))
  }
}
