import ArgumentParser
import Foundation
import HTTPCacheProxy

/// A file of cookies in Netscape's format, as curl and wget read and write it: seven columns between tabs (domain, whether
/// the hosts below it are included, path, whether for https alone, expiry, name, value).
enum CookieFile {
  /// Maximum bytes of a file that is read.
  private static let byteLimit = 16 << 20
  private static let httpOnlyMark = "#HttpOnly_"
  /// The lines that each file begins with.
  private static let title = "# Netscape HTTP Cookie File\n# Written by httpcache get -c\n"

  /// The parts of a file.
  struct Content: Equatable {
    var cookies: [Cookie] = []
    /// The other lines, without their ends: comments, and lines that are no cookies. Neither empty lines nor the title.
    var otherLines: [Data] = []

    /// The number of lines that are neither cookies nor comments.
    var malformedCount: Int {
      otherLines.count { $0.first != UInt8(ascii: "#") || CookieFile.isHTTPOnly($0) }
    }
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - isNew: whether the file may be missing.
  /// - Throws: `ValidationError` if the file cannot be read, or the file or a cookie is too long.
  static func content(at path: String, mayBeMissing isNew: Bool = false) throws -> Content {
    var status = stat()
    if path != "-" {
      let isThere = stat(path, &status) == 0
      if !isThere, errno == ENOENT, isNew { return Content() }
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
    return try content(of: bytes)
  }

  /// The content of the bytes of a file.
  ///
  /// - Throws: `ValidationError` if a cookie is too long: a file that is written afterwards would not have it.
  static func content(
    of bytes: Data, suffixes: PublicSuffixes = .system
  ) throws(ValidationError) -> Content {
    var content = Content()
    let titles = title.utf8.split(separator: UInt8(ascii: "\n"))
    for part in bytes.split(separator: UInt8(ascii: "\n")) {
      let line = part.last == 0x0D ? part.dropLast() : part
      if let text = String(validating: line, as: UTF8.self),
        let cookie = try cookie(in: text, suffixes: suffixes)
      {
        content.cookies.append(cookie)
      } else if !line.isEmpty, !titles.contains(where: { $0.elementsEqual(line) }) {
        content.otherLines.append(Data(line))
      }
    }
    return content
  }

  private static func isHTTPOnly(_ line: Data) -> Bool { line.starts(with: httpOnlyMark.utf8) }

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

  /// The whole seconds: some browser extensions write fractions, such as `1893456000.123`.
  private static func seconds(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let areDigits = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard areDigits, let whole = parts.first else { return nil }
    return Int64(whole) ?? .max
  }

  /// The bytes of a file: the title, other lines of the file before, and the cookies.
  static func bytes(of content: Content) -> Data {
    let lines = content.cookies.map { cookie in
      [
        (cookie.isHTTPOnly ? httpOnlyMark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
        cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
        String(cookie.expiry ?? 0), cookie.name, cookie.value,
      ].joined(separator: "\t") + "\n"
    }
    let others = content.otherLines.map { $0 + [UInt8(ascii: "\n")] }
    return Data((title + "\n").utf8) + others.joined() + Data(lines.joined().utf8)
  }

  /// Whether two paths name one file.
  static func isSameFile(_ path: String, as other: String) -> Bool {
    // Standard input and standard output.
    if path == "-" || other == "-" { return false }
    if path == other { return true }
    var (status, otherStatus) = (stat(), stat())
    return stat(path, &status) == 0 && stat(other, &otherStatus) == 0 && status.st_dev == otherStatus.st_dev
      && status.st_ino == otherStatus.st_ino
  }

  /// Replaces a file; a new one is for its owner alone.
  ///
  /// - Parameter path: `-` is standard output; a device or FIFO is written to.
  /// - Throws: `OutputFailure`.
  static func write(_ content: Content, to path: String) throws(OutputFailure) {
    let bytes = bytes(of: content)
    guard path != "-" else { return Console.current.output(String(decoding: bytes, as: UTF8.self)) }
    switch try OutputPlace(path) {
    case .descriptor(let number): try write(bytes, to: FileHandle(fileDescriptor: number), path)
    case .stream(let place):
      guard let file = FileHandle(forWritingAtPath: place) else {
        throw OutputFailure("cannot write the cookies to \(path)")
      }
      try write(bytes, to: file, path)
    case .file(let place, let exists):
      var status = stat()
      let mode = exists && stat(place, &status) == 0 ? status.st_mode & 0o777 : 0o600
      try OwnerFile.replace(
        place, by: bytes, mode: mode, task: "cannot write the cookies to \(path)")
    }
  }

  private static func write(_ bytes: Data, to file: FileHandle, _ path: String) throws(OutputFailure) {
    do { try file.write(contentsOf: bytes) } catch {
      throw OutputFailure("cannot write the cookies to \(path)")
    }
  }
}
