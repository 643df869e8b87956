import Dispatch

/// The client of a protocol, called where Foundation expects it: on Linux on the queue of the task, on Apple's
/// systems on the thread that started the protocol.
final class LoadClient: @unchecked Sendable {
  // @unchecked Sendable because a queue and a run loop may be given work from any thread, and the protocol and its
  // client are only used within `perform`.

  // Weak, because the protocol owns its load. Foundation keeps the protocol as long as it expects calls.
  private weak var loader: URLProtocol?
  #if canImport(FoundationNetworking)
    private let queue: DispatchQueue
  #else
    private let runLoop: CFRunLoop
    private let modes: CFArray
  #endif

  /// Must be called where the protocol is started.
  init(_ loader: URLProtocol, _ surroundings: TaskSurroundings) {
    self.loader = loader
    #if canImport(FoundationNetworking)
      queue = surroundings.queue ?? DispatchQueue(label: "swift-http-cache.protocol")
    #else
      runLoop = CFRunLoopGetCurrent()
      let current = CFRunLoopCopyCurrentMode(runLoop)
      modes = [current, .defaultMode].compactMap { $0?.rawValue } as CFArray
    #endif
  }

  /// Calls `work` with the client and its protocol, or with nil if Foundation has released the protocol. Foundation
  /// crashes when it is called for a task that it has ended itself.
  func perform(_ work: @escaping @Sendable ((any URLProtocolClient, URLProtocol)?) -> Void) {
    let call: @Sendable () -> Void = { [self] in
      guard let loader, let client = loader.client else { return work(nil) }
      switch loader.task?.state {
      case .canceling, .completed: work(nil)
      default: work((client, loader))
      }
    }
    #if canImport(FoundationNetworking)
      queue.async(execute: call)
    #else
      CFRunLoopPerformBlock(runLoop, modes, call)
      CFRunLoopWakeUp(runLoop)
    #endif
  }
}
