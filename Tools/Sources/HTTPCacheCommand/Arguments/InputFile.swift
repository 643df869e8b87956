import ArgumentParser
import Foundation
import HTTPCacheProxy

/// A file that an argument names, such as `-d @FILE`.
enum InputFile {
  /// Reads a file to its end.
  ///
  /// - Parameter path: `-` is standard input.
  /// - Throws: `ValidationError` if the file cannot be read.
  static func contents(_ path: some StringProtocol) throws -> Data {
    do {
      let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: String(path))
      guard let data = try file?.readToEnd() ?? (file == nil ? nil : Data()) else { throw unreadable(path) }
      return data
    } catch {
      throw unreadable(path)
    }
  }

  private static func unreadable(_ path: some StringProtocol) -> ValidationError {
    let reason = SystemMessage.text(errno)
    return ValidationError(path == "-" ? "cannot read standard input" : "cannot read \(path): \(reason)")
  }
}
