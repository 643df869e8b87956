import Foundation

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
