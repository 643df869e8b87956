import Testing

/// The path that a server looks up for the target of a request, written from the server's documentation and
/// independently of `PathReadings`.
struct OriginModel: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The path that the server looks up; nil if it refuses the request.
  let path: @Sendable (String) -> String?

  /// Whether the server answers with a page or one below it.
  func reads(_ target: String, as page: String) -> Bool {
    guard let path = path(target) else { return false }
    return path == page || path.hasPrefix(page + "/")
  }

  static let all: [OriginModel] =
    servers
    + servers.map { server in
      // A proxy in front that sends the decoded path on.
      OriginModel(testDescription: "\(server.testDescription) behind a proxy that decodes") { target in
        server.path(decoded(target))
      }
    }

  private static let servers = [
    OriginModel(testDescription: "nginx") { target in
      let path = decoded(withoutQuery(target))
      return path.contains("\0") ? nil : resolved(merged(path))
    },
    OriginModel(testDescription: "Apache with AllowEncodedSlashes") { target in
      let path = resolved(merged(decoded(withoutQuery(target))))
      // AcceptPathInfo: a script answers for all below it.
      guard let script = path.range(of: ".php/") else { return path }
      return String(path[..<script.lowerBound])
    },
    OriginModel(testDescription: "a program in C") { target in
      String(decoded(withoutQuery(target)).prefix { $0 != "\0" })
    },
    OriginModel(testDescription: "Tomcat") { target in
      let raw = segments(withoutQuery(target)).map { String($0.prefix { $0 != ";" }) }.joined(separator: "/")
      let path = decoded(raw).replacingEach("\\", with: "/")
      return path.contains("\0") ? nil : resolved(merged(path))
    },
    OriginModel(testDescription: "Spring with suffix patterns") { target in
      let path = segments(withoutQuery(target)).map { String(decoded($0).prefix { $0 != ";" }) }
        .joined(separator: "/")
      return withoutFormat(resolved(merged(path)))
    },
    OriginModel(testDescription: "IIS") { target in
      let path = resolved(merged(decoded(units(withoutQuery(target))).replacingEach("\\", with: "/")))
      let trimmed = segments(path).map { segment in
        var segment = segment.hasSuffix("::$DATA") ? String(segment.dropLast(7)) : segment
        while segment.last == " " || segment.last == "." { segment.removeLast() }
        return segment
      }
      return trimmed.joined(separator: "/").lowercased()
    },
    OriginModel(testDescription: "Express") { target in
      let path = withoutQuery(target).lowercased()
      return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    },
    OriginModel(testDescription: "Node with new URL()") { target in
      var path = withoutQuery(target).replacingEach("\\", with: "/")
      if path.hasPrefix("//") {
        path = String(path.dropFirst(2).drop { $0 != "/" })
        if path.isEmpty { path = "/" }
      }
      return resolved(path.replacingEach("%2e", with: ".").replacingEach("%2E", with: "."))
    },
    OriginModel(testDescription: "Django") { target in
      var path = decoded(withoutQuery(target))
      // `$` also matches before the last end of a line.
      if path.last == "\n" { path.removeLast() }
      return path.hasSuffix("/") ? String(path.dropLast()) : path
    },
    OriginModel(testDescription: "Rails") { target in
      var path = merged(withoutQuery(target))
      if path.count > 1, path.hasSuffix("/") { path.removeLast() }
      return withoutFormat(decoded(path))
    },
    OriginModel(testDescription: "a decoder of overlong UTF-8") { target in
      var path = withoutQuery(target)
      for (form, character) in [("%c0%af", "/"), ("%c0%ae", "."), ("%e0%80%af", "/"), ("%c1%9c", "\\")] {
        path = path.replacingEach(form, with: character).replacingEach(form.uppercased(), with: character)
      }
      return resolved(merged(decoded(path).replacingEach("\\", with: "/")))
    },
    OriginModel(testDescription: "a framework that normalises Unicode") { target in
      let path = decoded(withoutQuery(target))
      return resolved(path.replacingEach("\u{FF0F}", with: "/").replacingEach("\u{FF0E}", with: "."))
    },
  ]

  // MARK: Steps

  private static func withoutQuery(_ target: String) -> String {
    String(target.prefix { $0 != "?" && $0 != "#" })
  }

  private static func segments(_ path: String) -> [String] {
    path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
  }

  private static func decoded(_ text: String) -> String {
    var octets: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let octet = rest.popFirst() {
      if octet == UInt8(ascii: "%"), rest.count > 1,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        octets.append(value)
        rest = rest.dropFirst(2)
      } else {
        octets.append(octet)
      }
    }
    return String(decoding: octets, as: UTF8.self)
  }

  /// `%u002F`, which IIS takes for a slash.
  private static func units(_ text: String) -> String {
    text.replacingEach("%u002f", with: "/").replacingEach("%u002F", with: "/")
  }

  private static func merged(_ path: String) -> String {
    var path = path
    while path.contains("//") { path = path.replacingEach("//", with: "/") }
    return path
  }

  private static func resolved(_ path: String) -> String {
    var kept: [String] = []
    let all = segments(path)
    for (index, segment) in all.enumerated() {
      if segment == ".." {
        if kept.count > 1 { kept.removeLast() }
        if index == all.count - 1 { kept.append("") }
      } else if segment == "." {
        if index == all.count - 1 { kept.append("") }
      } else {
        kept.append(segment)
      }
    }
    return kept.joined(separator: "/")
  }

  /// Without `.css`, which Rails and Spring take for the format of the answer.
  private static func withoutFormat(_ path: String) -> String {
    guard let last = segments(path).last, let dot = last.firstIndex(of: "."), dot > last.startIndex else {
      return path
    }
    return String(path.dropLast(last[dot...].count))
  }
}

extension String {
  fileprivate func replacingEach(_ text: String, with other: String) -> String {
    var (result, rest) = ("", self[...])
    while let range = rest.range(of: text) {
      result += rest[..<range.lowerBound] + other
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}

extension StringProtocol {
  /// The first place of a text, compared octet by octet.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if utf8[start...].starts(with: text.utf8) {
        return start..<utf8.index(start, offsetBy: text.utf8.count)
      }
      start = utf8.index(after: start)
    }
    return nil
  }
}
