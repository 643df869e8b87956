import Foundation
import HTTPCacheDownloads
import HTTPCaching
import Synchronization

/// The destination of a body. Writes run outside of the threads of tasks, because a write may block.
final class Output: Sendable {
  /// A place for a body.
  enum Destination: Sendable, Equatable {
    case standardOutput
    case file(String)
    case nowhere
  }

  private struct State {
    var place: OutputPlace?
    var descriptor: Int32 = -1
    var hasBegun = false
    var isNamedByHead = false
    var isNew = false
    var isKept = false
    var isComplete = false
  }

  /// Holds the bytes of a regular file until they are complete.
  let part: PartFile?
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "httpcache.output")

  /// Finds out what kind of file a destination is. Writes nothing yet.
  ///
  /// - Parameter isNamedByHead: whether the head may change the name of the file (`-J`). The part file keeps the
  ///   first name, because the next run looks for it before it knows the head.
  /// - Throws: `OutputFailure` if the destination cannot be written to.
  init(_ destination: Destination, isNamedByHead: Bool = false) throws(OutputFailure) {
    if isNamedByHead, case .file(let path) = destination {
      part = try Self.part(beside: path, for: path)
      return
    }
    let place = try Self.place(destination)
    state.withLock { $0.place = place }
    if case .file(let path, let exists) = place {
      part = try Self.part(beside: OutputPlace.partBase(of: path, exists: exists), for: path)
    } else {
      part = nil
    }
  }

  private static func part(beside base: String, for path: String) throws(OutputFailure) -> PartFile {
    do throws(DownloadFailure) { return try PartFile(beside: base) } catch {
      throw OutputFailure("cannot write to \(path)", error, at: path)
    }
  }

  private static func place(_ destination: Destination) throws(OutputFailure) -> OutputPlace? {
    switch destination {
    case .nowhere: nil
    case .standardOutput: .descriptor(STDOUT_FILENO)
    case .file(let path): try OutputPlace(path)
    }
  }

  private var place: OutputPlace? { state.withLock { $0.place } }

  /// Sets the destination of an output that is named by the head. Call this before `begin` and `resume`.
  ///
  /// - Parameter isNew: whether the origin chose the name, so that the file must not exist. Holds for later calls, too.
  /// - Throws: `OutputFailure` for what cannot be written to, and for a file that must not exist.
  func name(_ destination: Destination, isNew: Bool) throws(OutputFailure) {
    let place = try Self.place(destination)
    let mustBeNew = state.withLock { state in
      state.isNew = state.isNew || isNew
      return state.isNew
    }
    // Another transfer may have made the file after the head was compared with the folder.
    if mustBeNew, case .file(let path) = destination {
      guard case .file(path, exists: false) = place else {
        throw OutputFailure.taken(path)
      }
    }
    state.withLock { ($0.place, $0.isNamedByHead) = (place, true) }
  }

  /// Removes the part file, unless it is kept, or was left by a killed process and not changed since.
  deinit {
    let state = state.withLock { $0 }
    if case .stream = state.place, state.descriptor >= 0 { close(state.descriptor) }
    if state.hasBegun, !state.isKept { part?.discard() }
  }

  /// Whether written bytes cannot be taken back, as in a stream.
  var isStream: Bool {
    switch place {
    case .descriptor, .stream: true
    case .file, nil: false
    }
  }

  /// Whether the first byte may be written.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Begins to write a body at its first byte. Waits for the reader of a FIFO.
  ///
  /// - Parameters:
  ///   - record: the record of the response; nil if the response cannot be continued.
  ///   - request: the request for the whole file; nil drops what an earlier transfer left.
  ///   - scope: that of the request.
  /// - Throws: `OutputFailure`, `CancellationError`.
  func begin(
    _ record: PartRecord?, for request: HTTPRequest? = nil, scope: String = "",
    waiting: @Sendable (String) -> Void = { _ in }
  ) async throws {
    switch place {
    case nil: break
    case .descriptor(let descriptor): began(descriptor)
    case .stream(let path): began(try await open(stream: path, waiting: waiting))
    case .file:
      began(-1)
      try writing { () throws(DownloadFailure) in try part?.begin(record, for: request, scope: scope) }
    }
  }

  /// Continues after `offset` bytes of an earlier transfer.
  ///
  /// - Parameter length: the length of the whole body in bytes, if known.
  /// - Throws: `OutputFailure`.
  func resume(at offset: Int64, length: Int64?) throws(OutputFailure) {
    began(-1)
    try writing { () throws(DownloadFailure) in try part?.resume(at: offset, length: length) }
  }

  private func writing(_ body: () throws(DownloadFailure) -> Void) throws(OutputFailure) {
    do throws(DownloadFailure) { try body() } catch { throw OutputFailure("cannot write to \(name)", error) }
  }

  private func began(_ descriptor: Int32) {
    state.withLock { state in
      state.descriptor = descriptor
      state.hasBegun = true
    }
  }

  /// Writes bytes.
  ///
  /// - Throws: `OutputFailure`; `CancellationError` if the task is cancelled while a reader takes no bytes.
  func write(_ bytes: BodyBytes) async throws {
    if case .file = place {
      do throws(DownloadFailure) { try await part?.append(bytes) } catch {
        throw OutputFailure("cannot write the body to \(name)", error)
      }
      return
    }
    let descriptor = state.withLock { $0.descriptor }
    guard descriptor >= 0 else { return }
    if let failure = try await blocking({ Self.write(bytes, to: descriptor, named: self.name) }) {
      throw failure
    }
  }

  private var name: String {
    switch place {
    case .stream(let path): path
    case .file: part?.path ?? "the file"
    case .descriptor(STDOUT_FILENO), nil: "standard output"
    case .descriptor(let number): "descriptor \(number)"
    }
  }

  private static func write(_ bytes: BodyBytes, to descriptor: Int32, named name: String) -> OutputFailure? {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 {
        switch errno {
        case EINTR: continue
        case EAGAIN:
          // A descriptor that another process made non-blocking.
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&wanted, 1, -1)
          continue
        case EPIPE: return OutputFailure(message: "the reader of \(name) has closed it")
        default: return OutputFailure("cannot write the body to \(name)")
        }
      }
      rest = rest.dropFirst(written)
    }
    return nil
  }

  /// Gives the destination file the complete body.
  ///
  /// - Parameter modified: the time of the file, in seconds since 1970; nil leaves the time of writing.
  /// - Throws: `OutputFailure`.
  func finish(modified: Int64? = nil) throws(OutputFailure) {
    switch place {
    case nil, .descriptor: break
    case .stream(let path):
      let descriptor = state.withLock { state in
        defer { state.descriptor = -1 }
        return state.descriptor
      }
      guard descriptor < 0 || close(descriptor) == 0 else { throw OutputFailure("cannot write to \(path)") }
    case .file(let path, let exists):
      guard let part else { return }
      do throws(DownloadFailure) {
        // Another transfer may have got an equal name meanwhile.
        try part.place(
          at: path, modified: modified, mustBeNew: state.withLock { $0.isNamedByHead } && !exists,
          mayCopy: true)
      } catch {
        state.withLock { $0.isKept = true }
        part.leaveBody()
        let failure =
          error.kind == .destinationExists
          ? OutputFailure.taken(path) : OutputFailure("cannot write to \(path)", error, at: path)
        throw OutputFailure(message: "\(failure); the body is in \(part.path)/body")
      }
      state.withLock { $0.isComplete = true }
    }
  }

  /// The part file that an interrupted transfer leaves; nil if there is nothing to continue.
  var leftover: (path: String, bytes: Int64)? {
    guard let part, part.record != nil, part.received > 0, !state.withLock({ $0.isComplete }) else {
      return nil
    }
    return (part.path, part.received)
  }

  /// Keeps the part file.
  func keep() async {
    state.withLock { $0.isKept = true }
    await part?.keep()
  }
}

extension Output {
  private func open(stream path: String, waiting: @Sendable (String) -> Void) async throws -> Int32 {
    let now = Foundation.open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    if now >= 0 {
      // Clear the flag, so that a write waits for a slow reader.
      _ = fcntl(now, F_SETFL, fcntl(now, F_GETFL) & ~O_NONBLOCK)
      return now
    }
    guard errno == ENXIO else { throw OutputFailure("cannot write to \(path)") }
    waiting("\(path) is a FIFO; waiting for a reader")
    let opened = try await blocking { () -> Result<Int32, OutputFailure> in
      let descriptor = Foundation.open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
      return descriptor >= 0 ? .success(descriptor) : .failure(OutputFailure("cannot write to \(path)"))
    }
    return try opened.get()
  }

  /// Runs work that may block until a reader takes bytes. If the task is cancelled, this function does not wait for
  /// work on a stream: the work ends with the process, or when the reader closes.
  private func blocking<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async throws -> Result {
    let waiter = Waiter<Result>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiter.wait(continuation)
        queue.async { waiter.end(.success(work())) }
        if isStream, Task.isCancelled { waiter.end(.failure(CancellationError())) }
      }
    } onCancel: {
      if isStream { waiter.end(.failure(CancellationError())) }
    }
  }

  /// A continuation that is resumed once, by the first of two events.
  private final class Waiter<Success: Sendable>: Sendable {
    private let continuation = Mutex<CheckedContinuation<Success, any Error>?>(nil)

    func wait(_ waiting: CheckedContinuation<Success, any Error>) { continuation.withLock { $0 = waiting } }

    func end(_ result: Result<Success, any Error>) {
      continuation.withLock { $0.take() }?.resume(with: result)
    }
  }
}
