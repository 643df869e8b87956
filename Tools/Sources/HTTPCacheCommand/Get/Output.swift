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
      let part = PartFile(of: path)
      part.removeAbandoned()
      guard let (descriptor, temporary) = part.make() else { throw Failure("cannot write to \(path)") }
      self.descriptor = descriptor
      self.path = path
      temporaryPath = temporary
    }
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
    // Unlocked it would count as abandoned, so that the lock stays until it has its name.
    let held = dup(descriptor)
    defer { if held >= 0 { close(held) } }
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
