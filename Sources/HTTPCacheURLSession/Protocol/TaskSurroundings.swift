import Dispatch

/// How a task expects its response, and where Foundation expects calls for it.
struct TaskSurroundings: @unchecked Sendable {
  // @unchecked Sendable because the session and the queue may be used from any thread, and are constant here.

  enum Delivery: Sendable {
    /// In pieces, as it arrives.
    case pieces
    /// At its end, all of it: the task keeps the last piece only.
    case whole
  }

  let delivery: Delivery
  let session: URLSession?
  /// The delegate that is asked about challenges and redirects.
  let delegate: TaskDelegate?
  /// The queue on which the task is started and stopped; nil if unknown.
  let queue: DispatchQueue?

  #if canImport(FoundationNetworking)
    /// Inspects a task, on its queue, where the protocol is started.
    ///
    /// Foundation on Linux has no public way to tell a task with a completion handler from a task with a
    /// delegate. Its private state is read instead; if that is ever renamed, every body is delivered whole,
    /// which is correct for both.
    init(_ task: URLSessionTask?) {
      guard let task else {
        (delivery, session, delegate, queue) = (.whole, nil, nil, nil)
        return
      }
      session = Self.session(of: task)
      queue = PrivateProperty.value("workQueue", of: task) as? DispatchQueue
      delegate = TaskDelegate(of: task, in: session)
      delivery = session.map { Self.tellsDelegate($0, of: task) } ?? false ? .pieces : .whole
    }

    /// The session of a task; nil if unknown.
    static func session(of task: URLSessionTask?) -> URLSession? {
      task.flatMap { PrivateProperty.value("session", of: $0) as? URLSession }
    }

    private static func tellsDelegate(_ session: URLSession, of task: URLSessionTask) -> Bool {
      guard let registry = PrivateProperty.value("taskRegistry", of: session),
        let behaviours = PrivateProperty.value("behaviours", of: registry)
      else { return false }
      let identifier = task.taskIdentifier
      for (_, entry) in Mirror(reflecting: behaviours).children {
        let pair = Mirror(reflecting: entry).children.map(\.value)
        guard pair.count == 2, pair[0] as? Int == identifier else { continue }
        // Describing a handler takes longer than all the rest; the case that is looked for has none.
        return Mirror(reflecting: pair[1]).children.isEmpty && String(describing: pair[1]) == "callDelegate"
      }
      return false
    }
  #else
    /// Apple's systems join the pieces for a task with a completion handler.
    init(_ task: URLSessionTask?) { (delivery, session, delegate, queue) = (.pieces, nil, nil, nil) }

    /// Apple's systems do not tell.
    static func session(of task: URLSessionTask?) -> URLSession? { nil }
  #endif

  /// Waits until the delegate has handled all calls so far.
  func delegateCaughtUp() async {
    guard let session else { return }
    // A queue that is suspended for good must not block a cancelled load.
    try? await DelegateAnswer<Void>.wait(in: session.delegateQueue) { $0(()) }
  }
}
