import Foundation
import HTTPCaching

/// Where a body is written to, off the threads that tasks run on, since writing may block.
final class Output: Sendable {
  /// A place for a body.
  enum Destination: Sendable, Equatable {
    case standardOutput
    case file(String)
    case nowhere
  }

  /// Writing failed.
  struct Failure: Error, CustomStringConvertible {
    /// What was being done, and the system's message.
    let description: String

    init(_ doing: String) { description = "\(doing): \(String(cString: strerror(errno)))" }
  }

  private let descriptor: Int32
  private let temporaryPath: String?
  private let path: String?
  private let queue = DispatchQueue(label: "httpcache.output")

  /// Opens a destination. A file gets a temporary name beside its own until `finish`.
  ///
  /// - Throws: `Failure`.
  init(_ destination: Destination) throws(Failure) {
    switch destination {
    case .nowhere:
      descriptor = -1
      path = nil
      temporaryPath = nil
    case .standardOutput:
      descriptor = STDOUT_FILENO
      path = nil
      temporaryPath = nil
    case .file(let path):
      let name = ".httpcache-\(String(UInt64.random(in: 0 ... .max), radix: 16)).part"
      let temporary = Self.folder(of: path) + name
      descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw Failure("cannot write to \(path)") }
      self.path = path
      temporaryPath = temporary
    }
  }

  /// What stands before the name of a file, up to its last slash.
  ///
  /// By hand: Foundation on Linux crashes in `deletingLastPathComponent` where a name has one letter.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Writes bytes.
  ///
  /// - Throws: `Failure`.
  func write(_ bytes: BodyBytes) async throws(Failure) {
    guard descriptor >= 0 else { return }
    let failure: Failure? = await withCheckedContinuation { continuation in
      queue.async { [descriptor] in
        var rest = bytes
        while !rest.isEmpty {
          let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
          if written < 0 {
            if errno == EINTR { continue }
            return continuation.resume(returning: Failure("cannot write the body"))
          }
          rest = rest.dropFirst(written)
        }
        continuation.resume(returning: nil)
      }
    }
    if let failure { throw failure }
  }

  /// Gives a file its own name.
  ///
  /// - Throws: `Failure`.
  func finish() throws(Failure) {
    guard let temporaryPath, let path else { return }
    guard close(descriptor) == 0, rename(temporaryPath, path) == 0 else {
      let failure = Failure("cannot write \(path)")
      unlink(temporaryPath)
      throw failure
    }
  }

  /// Removes what was written to a file.
  func discard() {
    guard let temporaryPath else { return }
    close(descriptor)
    unlink(temporaryPath)
  }
}
