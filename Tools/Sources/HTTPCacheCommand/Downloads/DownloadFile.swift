import ArgumentParser
import HTTPCaching
import HTTPTypes

/// A file of URLs in the format of `wget -i` (a URL per line) and of `aria2c -i` (indented options after it).
struct DownloadFile {
  /// A URL and what is said of it.
  struct Entry {
    let url: String
    /// Other URLs of the file, after tabs on its line.
    var mirrors: [String] = []
    /// The number of its line, from 1.
    let line: Int
    /// The file name, or a path.
    var name: String?
    /// The folder that `name` is in.
    var folder: String?
    var digests: [IntegrityDigest] = []
    var headers: [HeaderArgument] = []
    var segments: Int?
    /// Whether the entry cannot be used.
    fileprivate var isLeftOut = false
  }

  /// The most URLs of a file besides the first.
  private static let mostMirrors = 32

  private(set) var entries: [Entry] = []
  /// Messages about options and URLs that are not used, for people; the first 100.
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
        let mirrors = urls.dropFirst().filter { !$0.isEmpty }.map(String.init)
        if mirrors.count > Self.mostMirrors {
          note("\(place): only the first \(Self.mostMirrors) mirrors are used")
        }
        entries.append(
          Entry(
            url: String(urls.first ?? content), mirrors: Array(mirrors.prefix(Self.mostMirrors)),
            line: index + 1))
      }
    }
    entries.removeAll(where: \.isLeftOut)
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
    case "header": try addHeader(String(value), to: last, place)
    case "split":
      guard let count = Int(value), (1...16).contains(count) else {
        throw ValidationError("\(place): split= must be from 1 to 16 (got '\(value)')")
      }
      entries[last].segments = count
    default: note("\(place): \(name)= is not known and has no effect")
    }
  }

  private mutating func note(_ text: String) { if notes.count < 100 { notes.append(text) } }

  private mutating func addHeader(_ text: String, to index: Int, _ place: String) throws {
    let header: HeaderArgument
    do { header = try HeaderArgument(parsing: text) } catch let error as ValidationError {
      throw ValidationError("\(place): \(error.message)")
    }
    guard header.name != .range else {
      throw ValidationError("\(place): header=Range does not go with a queue")
    }
    guard entries[index].headers.count < HeaderArgument.most else {
      if !entries[index].isLeftOut {
        note("\(place): more than \(HeaderArgument.most) header= lines; the URL is left out")
      }
      entries[index].isLeftOut = true
      return
    }
    entries[index].headers.append(header)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return start[...last]
  }
}
