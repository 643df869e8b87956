import Synchronization

/// Looks up host names, a few at a time, for a limited time.
struct NameLookups: Sendable {
  /// Maximum number of names that are looked up at the same time. A lookup keeps a thread until the resolver answers.
  private static let mostAtOnce = 8

  /// The names that wait.
  private final class Queue: Sendable {
    private let names: Mutex<ArraySlice<String>>

    init(_ names: [String]) { self.names = Mutex(names[...]) }

    func next() -> String? { names.withLock { $0.popFirst() } }
    func stop() { names.withLock { $0 = [] } }
  }

  /// Whether a name resolves. It may take longer than `patience`, and is not waited for then.
  let resolves: @Sendable (String) async -> Bool
  let patience: Duration

  /// The names that do not resolve, or not in time.
  func unresolved(_ names: [String]) async -> Set<String> {
    guard !names.isEmpty else { return [] }
    let (answers, continuation) = AsyncStream.makeStream(of: (name: String, isKnown: Bool).self)
    let queue = Queue(names)
    for _ in 0..<min(Self.mostAtOnce, names.count) {
      Task { [resolves] in
        while let name = queue.next() { continuation.yield((name, await resolves(name))) }
      }
    }
    let timer = Task { [patience] in
      try? await Task.sleep(for: patience)
      queue.stop()
      continuation.finish()
    }
    defer { timer.cancel() }
    var (unresolved, count) = (Set(names), 0)
    for await answer in answers {
      if answer.isKnown { unresolved.remove(answer.name) }
      count += 1
      if count == names.count { break }
    }
    return unresolved
  }
}
