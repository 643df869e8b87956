import ArgumentParser
import HTTPCaching

/// A file of URLs in the format of `wget -i` (a URL per line) and of `aria2c -i` (indented options after it).
struct DownloadFile {
  /// A URL and what is said of it.
  struct Entry {
    let url: String
    /// The number of its line, from 1.
    let line: Int
    /// The file name, or a path.
    var name: String?
    /// The folder that `name` is in.
    var folder: String?
    var digests: [IntegrityDigest] = []
    var headers: [HeaderArgument] = []
    var segments: Int?
  }

  private(set) var entries: [Entry] = []
  /// Messages about options and URLs that are not used, for people.
  private(set) var notes: [String] = []

  /// Reads a file.
  ///
  /// - Parameter path: for messages.
  /// - Throws: `ValidationError` with the line.
  init(_ text: String, path: String) throws {
    // Some editors mark text as UTF-8 with a first character that is not shown.
    let text = text.first == "\u{FEFF}" ? text.dropFirst() : text[...]
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let place = "\(path), line \(index + 1)"
      let content = Self.trimmed(line)
      guard !content.isEmpty, content.first != "#" else { continue }
      if line.first == " " || line.first == "\t" {
        try readOption(content, place)
      } else {
        let urls = line.split(separator: "\t").map(Self.trimmed)
        entries.append(Entry(url: String(urls.first ?? content), line: index + 1))
        if urls.count > 1 { notes.append("\(place): only the first of \(urls.count) URLs is used") }
      }
    }
  }

  private mutating func readOption(_ option: Substring, _ place: String) throws {
    guard let last = entries.indices.last else { throw ValidationError("\(place): an option before any URL") }
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw ValidationError("\(place): '\(option)' is not NAME=VALUE") }
    let (name, value) = (Self.trimmed(parts[0]), Self.trimmed(parts[1]))
    guard !value.isEmpty else { throw ValidationError("\(place): \(name)= has no value") }
    switch name {
    case "out": entries[last].name = String(value)
    case "dir": entries[last].folder = String(value)
    case "checksum":
      entries[last].digests = [try QueueOptionGroup.digest(value, "\(place): checksum=")]
    case "header": entries[last].headers.append(try HeaderArgument(parsing: String(value)))
    case "split":
      guard let count = Int(value), (1...16).contains(count) else {
        throw ValidationError("\(place): split= must be from 1 to 16 (got '\(value)')")
      }
      entries[last].segments = count
    default: notes.append("\(place): \(name)= is not known and has no effect")
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return start[...last]
  }
}
