import ArgumentParser
import Foundation
import HTTPCacheProxy

/// A file of cookies in Netscape's format, as curl and wget read and write it: seven columns between tabs (domain, whether
/// the hosts below it are included, path, whether for https alone, expiry, name, value).
enum CookieFile {
  /// Maximum bytes of a file that is read.
  private static let byteLimit = 16 << 20
  private static let httpOnlyMark = "#HttpOnly_"

  /// Reads the cookies of a file; other lines are skipped.
  ///
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - isNew: whether the file may be missing.
  /// - Throws: `ValidationError` if the file cannot be read, or the file or a cookie is too long.
  static func cookies(at path: String, mayBeMissing isNew: Bool = false) throws -> [Cookie] {
    var status = stat()
    if path != "-" {
      let isThere = stat(path, &status) == 0
      if !isThere, errno == ENOENT, isNew { return [] }
      guard isThere, status.st_mode & S_IFMT != S_IFDIR else {
        let reason = isThere ? "is a directory" : SystemMessage.text(errno)
        throw ValidationError("--cookie: cannot read \(path): \(reason); a cookie is given as name=value")
      }
    }
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else {
      throw ValidationError("--cookie: cannot read \(path): \(SystemMessage.text(errno))")
    }
    var bytes = Data()
    do {
      while bytes.count <= byteLimit, let more = try file.read(upToCount: 1 << 20), !more.isEmpty {
        bytes.append(more)
      }
    } catch { throw ValidationError("--cookie: cannot read \(path): \(error.localizedDescription)") }
    guard bytes.count <= byteLimit else {
      throw ValidationError("--cookie: \(path) has more than \(byteLimit) bytes")
    }
    return try cookies(in: bytes)
  }

  /// The cookies in the bytes of a file.
  ///
  /// - Throws: `ValidationError` if a cookie is too long: a file that is written afterwards would not have it.
  static func cookies(
    in bytes: Data, suffixes: PublicSuffixes = .system
  ) throws(ValidationError) -> [Cookie] {
    var cookies: [Cookie] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let text = String(validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self),
        let cookie = try cookie(in: text, suffixes: suffixes)
      else { continue }
      cookies.append(cookie)
    }
    return cookies
  }

  private static func cookie(
    in line: String, suffixes: PublicSuffixes
  ) throws(ValidationError) -> Cookie? {
    let isHTTPOnly = line.hasPrefix(httpOnlyMark)
    guard isHTTPOnly || !line.hasPrefix("#") else { return nil }
    let columns = line.dropFirst(isHTTPOnly ? httpOnlyMark.count : 0)
      .split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    // A cookie without a value may have lost its last tab.
    guard (6...7).contains(columns.count), let seconds = seconds(columns[4]) else { return nil }
    let given = columns[0].lowercased()
    let domain = given.hasPrefix(".") ? String(given.dropFirst()) : given
    let isHostOnly = columns[1].uppercased() != "TRUE"
    // A final dot names the root: no host is in such a domain.
    guard isHostOnly || !domain.hasSuffix(".") && !suffixes.contains(domain) else { return nil }
    let value = columns.count == 7 ? columns[6] : ""
    guard columns[5].utf8.count + value.utf8.count <= Cookie.byteLimit,
      columns[2].utf8.count <= Cookie.byteLimit
    else {
      throw ValidationError(
        "--cookie: the name and value, or the path, of a cookie of \(domain.prefix(255)) have more than "
          + "\(Cookie.byteLimit) bytes; remove the line from the file")
    }
    return Cookie(
      name: columns[5], value: value, domain: domain, isHostOnly: isHostOnly,
      path: columns[2], isSecure: columns[3].uppercased() == "TRUE", isHTTPOnly: isHTTPOnly,
      expiry: seconds == 0 ? nil : seconds)
  }

  private static func seconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text) ?? .max
  }

  /// The text of a file.
  static func text(of cookies: [Cookie]) -> String {
    let lines = cookies.map { cookie in
      [
        (cookie.isHTTPOnly ? httpOnlyMark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
        cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
        String(cookie.expiry ?? 0), cookie.name, cookie.value,
      ].joined(separator: "\t") + "\n"
    }
    return "# Netscape HTTP Cookie File\n# Written by httpcache get -c\n\n" + lines.joined()
  }

  /// Replaces a file by cookies; a new file is for its owner alone.
  ///
  /// - Parameter path: `-` is standard output; a device or FIFO is written to.
  /// - Throws: `OutputFailure`.
  static func write(_ cookies: [Cookie], to path: String) throws(OutputFailure) {
    let text = text(of: cookies)
    guard path != "-" else { return Console.current.output(text) }
    switch try OutputPlace(path) {
    case .descriptor(let number): try write(text, to: FileHandle(fileDescriptor: number), path)
    case .stream(let place):
      guard let file = FileHandle(forWritingAtPath: place) else {
        throw OutputFailure("cannot write the cookies to \(path)")
      }
      try write(text, to: file, path)
    case .file(let place, let exists):
      var status = stat()
      let mode = exists && stat(place, &status) == 0 ? status.st_mode & 0o777 : 0o600
      try OwnerFile.replace(
        place, by: Data(text.utf8), mode: mode, task: "cannot write the cookies to \(path)")
    }
  }

  private static func write(_ text: String, to file: FileHandle, _ path: String) throws(OutputFailure) {
    do { try file.write(contentsOf: Data(text.utf8)) } catch {
      throw OutputFailure("cannot write the cookies to \(path)")
    }
  }
}
