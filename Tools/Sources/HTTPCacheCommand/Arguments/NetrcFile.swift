import ArgumentParser

/// The users and passwords of a `.netrc` file, by host, as curl reads it.
struct NetrcFile: Sendable {
  private struct Entry: Sendable {
    /// The host in lower case; nil for the default entry.
    let host: String?
    var user = ""
    var password = ""
  }

  private enum Keyword: String {
    case machine, login, password, account
  }

  private var entries: [Entry] = []

  /// Reads a file. Unknown words are skipped; the letter case of keywords does not matter.
  ///
  /// - Parameter path: the file, for messages.
  /// - Throws: `ValidationError` for a quote that is not closed on its line.
  init(_ text: String, path: String) throws {
    var isMacro = false
    // A value may be on the line after its keyword.
    var keyword: Keyword?
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      // A macro ends with an empty line.
      if isMacro {
        isMacro = !line.allSatisfy(Self.isBlank)
        continue
      }
      guard let words = Self.words(line) else {
        throw ValidationError("\(path), line \(index + 1): a quote is not closed")
      }
      for word in words {
        if let known = keyword {
          add(known, word)
          keyword = nil
          continue
        }
        let name = word.lowercased()
        if name == "macdef" {
          isMacro = true
          break
        }
        if name == "default" { entries.append(Entry(host: nil)) }
        keyword = Keyword(rawValue: name)
      }
    }
  }

  /// The user and password for a host: those of the first entry that has both, else of the first one that has one of them.
  /// The default entry is for every host.
  ///
  /// - Parameter user: the user whose password is asked for; nil for any. An entry without a user is for each.
  func credentials(host: String, user: String? = nil) -> Credentials? {
    let host = host.lowercased()
    let known = entries.filter { entry in
      (entry.host == nil || entry.host == host) && !(entry.user.isEmpty && entry.password.isEmpty)
        && (user == nil || entry.user.isEmpty || entry.user == user)
    }
    let whole = known.first { !($0.user.isEmpty && user == nil) && !$0.password.isEmpty }
    return (whole ?? known.first).map { Credentials(user: user ?? $0.user, password: $0.password) }
  }

  /// Adds a value. What follows a user and a password belongs to no entry.
  private mutating func add(_ keyword: Keyword, _ value: String) {
    if keyword == .machine { return entries.append(Entry(host: value.lowercased())) }
    guard let last = entries.indices.last, entries[last].user.isEmpty || entries[last].password.isEmpty
    else { return }
    switch keyword {
    case .login: entries[last].user = value
    case .password: entries[last].password = value
    case .machine, .account: break
    }
  }

  /// The words of a line; nil if a quote is not closed. A quoted word may have spaces and escapes; a word that begins with
  /// `#` begins a comment.
  private static func words(_ line: Substring) -> [String]? {
    var words: [String] = []
    var rest = line.drop(while: isBlank)
    while let first = rest.first, first != "#" {
      if first == "\"" {
        rest = rest.dropFirst()
        guard let word = quoted(&rest) else { return nil }
        words.append(word)
      } else {
        let word = rest.prefix { !isBlank($0) }
        words.append(String(word))
        rest = rest.dropFirst(word.count)
      }
      rest = rest.drop(while: isBlank)
    }
    return words
  }

  /// Removes a word and the quote behind it; nil without that quote.
  private static func quoted(_ rest: inout Substring) -> String? {
    var word = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return word
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        word.append(["n": "\n", "r": "\r", "t": "\t"][escaped] ?? escaped)
      default: word.append(character)
      }
    }
    return nil
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t" || character == "\r"
  }
}
