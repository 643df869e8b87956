/// The users and passwords of a `.netrc` file, by host.
struct NetrcFile {
  private var entries: [(host: String?, credentials: Credentials)] = []

  /// Reads a file. Unknown words are skipped.
  init(_ text: String) {
    var isMacro = false
    var words: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if isMacro {
        // A macro ends with an empty line.
        isMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      let found = Self.words(line)
      isMacro = found.contains("macdef")
      words += found.prefix { $0 != "macdef" }
    }
    read(words)
  }

  /// The first entry for a host, else the default entry.
  func credentials(host: String) -> Credentials? {
    entries.first { $0.host == nil || $0.host == host.lowercased() }?.credentials
  }

  private mutating func read(_ words: [String]) {
    var host: String??
    var (user, password) = ("", "")
    func entry() -> (host: String?, credentials: Credentials)? {
      host.map { ($0, Credentials(user: user, password: password)) }
    }
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "machine", "default":
        if let entry = entry() { entries.append(entry) }
        (user, password) = ("", "")
        host = .some(word == "machine" ? rest.popFirst()?.lowercased() ?? "" : nil)
      case "login": user = rest.popFirst() ?? ""
      case "password": password = rest.popFirst() ?? ""
      case "account": rest = rest.dropFirst()
      default: break
      }
    }
    if let entry = entry() { entries.append(entry) }
  }

  /// The words of a line. A quoted word may have spaces and escapes; a word that begins with `#` begins a comment.
  private static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    var rest = line.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      var word = ""
      if first == "\"" {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
          word.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
      } else {
        word = String(rest.prefix { !$0.isWhitespace })
        rest = rest.dropFirst(word.count)
      }
      words.append(word)
      rest = rest.drop(while: \.isWhitespace)
    }
    return words
  }
}
