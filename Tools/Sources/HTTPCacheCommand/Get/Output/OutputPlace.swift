import Foundation

/// The kind of file that the path of `-o` names, after following symbolic links.
enum OutputPlace: Equatable {
  /// An open descriptor of the process, such as `/dev/stdout` or `/dev/fd/3`.
  case descriptor(Int32)
  /// A device or a FIFO: written to directly.
  case stream(String)
  /// A regular file, or no file yet: replaced when the body is complete. The last component is not a symbolic link.
  case file(String, exists: Bool)

  /// Maximum number of symbolic links to follow, as on Linux.
  private static let linkLimit = 40

  /// Finds what a path names.
  ///
  /// - Throws: `OutputFailure` if it cannot be written to, such as a directory.
  init(_ path: String) throws(OutputFailure) {
    var path = path
    for _ in 0..<Self.linkLimit {
      if let number = Self.descriptorNumber(path) {
        self = .descriptor(try Self.writable(number, path))
        return
      }
      var status = stat()
      guard lstat(path, &status) == 0 else {
        guard errno == ENOENT else { throw OutputFailure("cannot write to \(path)") }
        guard !path.hasSuffix("/") else { throw OutputFailure.directory(path) }
        self = .file(path, exists: false)
        return
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        self = try Self.place(path, status)
        return
      }
      // The system decides whether the link may be followed: it refuses other users' links in /tmp.
      if stat(path, &status) != 0 {
        guard errno == ENOENT else { throw OutputFailure("cannot follow the link \(path)") }
      } else if ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
        self = try Self.place(path, status)
        return
      }
      path = try Self.target(ofLink: path)
    }
    errno = ELOOP
    throw OutputFailure("cannot write to \(path)")
  }

  private static func place(_ path: String, _ status: stat) throws(OutputFailure) -> OutputPlace {
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      // Replacing a file needs no permission for the file itself. Without this check a protected file would be lost.
      if access(path, W_OK) == 0 {
        .file(path, exists: true)
      } else {
        throw OutputFailure("cannot write to \(path)")
      }
    case S_IFDIR: throw OutputFailure.directory(path)
    case S_IFSOCK:
      throw OutputFailure(
        message:
          "\(path) is a socket, which cannot be opened as a file; pipe the body: -o - URL | nc -U \(path)")
    default: .stream(path)
    }
  }

  /// The descriptor that a path in `/dev` or `/proc/self` names; nil for other paths.
  static func descriptorNumber(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default:
      for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
        let digits = path.dropFirst(folder.count)
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int32(digits)
      }
      return nil
    }
  }

  private static func writable(_ number: Int32, _ path: String) throws(OutputFailure) -> Int32 {
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0 else { throw OutputFailure(message: "\(path): descriptor \(number) is not open") }
    guard flags & O_ACCMODE != O_RDONLY else {
      throw OutputFailure(message: "\(path): descriptor \(number) is not open for writing")
    }
    return number
  }

  /// Equal for two names of one file or FIFO; nil for descriptors and devices, which may be written to twice.
  var identity: String? {
    switch self {
    case .descriptor: return nil
    case .file(let path, exists: false):
      // The folder may have several names, too.
      var folder = stat()
      let name = path.dropFirst(Self.folder(of: path).count)
      guard stat(path.contains("/") ? Self.folder(of: path) : ".", &folder) == 0 else { return path }
      return "\(folder.st_dev) \(folder.st_ino) \(name)"
    case .file(let path, exists: true), .stream(let path):
      var status = stat()
      guard stat(path, &status) == 0, [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else { return nil }
      return "\(status.st_dev) \(status.st_ino)"
    }
  }

  private static func target(ofLink path: String) throws(OutputFailure) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &bytes, bytes.count)
    guard count > 0 else { throw OutputFailure("cannot follow the link \(path)") }
    let target = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasPrefix("/") ? target : folder(of: path) + target
  }

  /// The folder of a path, up to its last slash; empty for the working directory.
  ///
  /// Does not use Foundation, which on Linux crashes in `deletingLastPathComponent` for a name of one letter.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Whether the folder of a path exists.
  static func hasFolder(_ path: String) -> Bool {
    let folder = folder(of: path)
    return folder.isEmpty || access(folder, F_OK) == 0
  }

  /// Finds out, before the bytes of a file are there, whether its folder can have it.
  ///
  /// - Throws: `OutputFailure`.
  static func requireFolder(of path: String) throws(OutputFailure) {
    let folder = folder(of: path)
    guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else {
      throw OutputFailure("cannot write to \(path)")
    }
  }

  /// Finds out, before the bytes of a file are there, whether the file can be made or replaced.
  ///
  /// - Parameter isReplaced: whether a file that is there gets another file's place, not other bytes.
  /// - Throws: `OutputFailure`.
  static func requireFile(at path: String, isReplaced: Bool = true) throws(OutputFailure) {
    guard case .file(let file, let exists) = try OutputPlace(path) else { return }
    if isReplaced || !exists { try requireFolder(of: file) }
  }

  /// The path that the part file is beside: the file's, or in the folder for temporary files if no files can be made
  /// in the folder of an existing file.
  static func partBase(of path: String, exists: Bool) -> String {
    let folder = folder(of: path)
    guard exists, access(folder.isEmpty ? "." : folder, W_OK | X_OK) != 0 else { return path }
    let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    return NSTemporaryDirectory() + "httpcache" + whole.replacing("/", with: "-")
  }
}

extension Output {
  /// Whether a body would appear on a terminal.
  static func isTerminal(_ destination: Destination) throws(OutputFailure) -> Bool {
    switch destination {
    case .nowhere: return false
    case .standardOutput: return Terminal.isTerminal(STDOUT_FILENO)
    case .file(let path):
      guard case .descriptor(let descriptor) = try OutputPlace(path) else { return false }
      return Terminal.isTerminal(descriptor)
    }
  }

  /// Whether a path names the file or FIFO of standard output.
  static func isStandardOutput(_ path: String) -> Bool {
    if let place = try? OutputPlace(path), case .descriptor(let number) = place {
      return number == STDOUT_FILENO
    }
    var (named, output) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(STDOUT_FILENO, &output) == 0
      && [S_IFREG, S_IFIFO].contains(named.st_mode & S_IFMT)
      && named.st_ino == output.st_ino && named.st_dev == output.st_dev
  }
}
