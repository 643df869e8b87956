@preconcurrency import Dispatch
import HTTPCacheFiles
import HTTPCacheLibC

/// The named pipe `downloads/NAME.requests`, through which other processes ask the process that has a list open to
/// change downloads. A request is a line with the change and the identifier.
final class RequestPipe: Sendable {
  /// One request.
  typealias Request = (change: DownloadQueue.Change, id: DownloadID)

  private let path: String
  private let source: any DispatchSourceRead

  /// No request is longer.
  private static let longest = 64

  /// Makes the pipe. Only for the owner of the list's lock, since it replaces the pipe of an earlier owner.
  ///
  /// - Parameter receive: is called with each request, on a queue of this object.
  /// - Returns: nil where no pipe can be made, as on some network file systems: then no requests arrive.
  init?(_ file: ListFile, receive: @escaping @Sendable (Request) -> Void) {
    path = file.pipe
    unlink(path)
    guard mkfifo(path, 0o600) == 0 else { return nil }
    // Also open for writing, so that the end of a writer is not the end of the pipe.
    let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "swift-http-cache.downloads.requests"))
    source.setEventHandler {
      // A request is written in one piece, and fits into a piece (POSIX: PIPE_BUF is at least 512).
      for request in Self.requests(descriptor) { receive(request) }
    }
    source.setCancelHandler { HTTPCacheLibC.close(descriptor) }
    source.activate()
  }

  deinit { close() }

  /// Removes the pipe. Called before the list's lock is released.
  func close() {
    guard !source.isCancelled else { return }
    unlink(path)
    source.cancel()
  }

  /// Hands requests to the process that has the list open.
  ///
  /// - Returns: false if no process reads them.
  static func send(_ requests: [Request], to file: ListFile) -> Bool {
    let descriptor = open(file.pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return false }
    defer { HTTPCacheLibC.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO,
      fcntl(descriptor, F_SETFL, O_WRONLY) == 0
    else { return false }
    return requests.allSatisfy { request in
      Array("\(request.change.rawValue) \(request.id)\n".utf8)
        .withUnsafeBytes { Descriptor.writeAll($0, to: descriptor) } == 0
    }
  }

  private static func requests(_ descriptor: Int32) -> [Request] {
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let words = line.prefix(longest).split(separator: UInt8(ascii: " "))
        .map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 2, let change = DownloadQueue.Change(rawValue: words[0]),
        let id = UInt64(words[1], radix: 16)
      else { return nil }
      return (change, DownloadID(rawValue: id))
    }
  }
}
