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

  /// Makes a failure of a part file.
  init(_ doing: String, _ failure: DownloadFailure) {
    if let code = failure.systemError {
      self.init(doing, code)
    } else {
      self.init(message: "\(doing): \(failure.message)")
    }
  }

  /// Makes a failure with the system's message.
  init(_ doing: String, _ code: Int32 = errno) {
    // Files are made where there are none, so it is their folder that is missing.
    description = "\(doing): \(code == ENOENT ? "its folder does not exist" : SystemMessage.text(code))"
  }
}
