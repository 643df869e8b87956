import ArgumentParser
import Foundation
import HTTPCacheDownloads
import HTTPCacheProxy

/// The output cannot be written.
struct OutputFailure: Error, CustomStringConvertible {
  /// The operation that failed, and why.
  let description: String

  /// Makes a failure with a message of its own.
  init(message: String) { description = message }

  /// The failure of a name that the origin chose: a file has it.
  static func taken(_ path: String) -> OutputFailure {
    OutputFailure(message: "-J does not overwrite \(path): the file exists")
  }

  /// The failure of a path that names a directory, where a file is to be made.
  static func directory(_ path: String) -> OutputFailure {
    OutputFailure(message: "\(path) names a directory; name a file in it")
  }

  /// Makes a failure of a part file.
  ///
  /// - Parameter path: as for a failure with the system's message.
  init(_ doing: String, _ failure: DownloadFailure, at path: String? = nil) {
    if let code = failure.systemError {
      self.init(doing, code, at: path)
    } else {
      self.init(message: "\(doing): \(failure.message)")
    }
  }

  /// Makes a failure with the system's message.
  ///
  /// - Parameter path: the file to make; nil if only a missing folder can be the reason of ENOENT.
  init(_ doing: String, _ code: Int32 = errno, at path: String? = nil) {
    let reason =
      switch code {
      // Some file systems make no files, such as /proc.
      case ENOENT where path.map(OutputPlace.hasFolder) ?? false:
        "no file can be made there (\(SystemMessage.text(code)))"
      // Files are made where there are none, so it is their folder that is missing.
      case ENOENT: "its folder does not exist"
      default: SystemMessage.text(code)
      }
    description = "\(doing): \(reason)"
  }

  /// Reports the failure, and returns the error to throw.
  func reported() -> ExitCode {
    Console.report("httpcache: \(self)")
    return ExitStatus.output.code
  }
}
