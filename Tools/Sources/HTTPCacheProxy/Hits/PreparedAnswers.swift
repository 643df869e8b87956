import HTTPCaching

/// The answers that one event loop has prepared. They are for one second, because `Age` differs in the next one.
final class PreparedAnswers {
  /// Recognises requests: one for all connections of the loop, which would keep its buffer while they are idle.
  var plain: PlainRequest
  private let capacity: Int
  private var answers: [Int: PreparedAnswer] = [:]
  private var size = 0
  private var time: Timestamp?

  /// - Parameters:
  ///   - capacity: maximum number of bytes.
  ///   - limits: the limits of request heads.
  init(capacity: Int, limits: MessageLimits) {
    self.capacity = capacity
    plain = PlainRequest(limits: limits)
  }

  /// The answer for a key.
  func answer(for key: [UInt8]) -> PreparedAnswer? {
    guard let answer = answers[Self.hash(key)], answer.key == key else { return nil }
    return answer
  }

  /// Keeps an answer if there is space for it, and forgets those of earlier seconds.
  func insert(_ answer: PreparedAnswer) {
    if time != answer.time {
      time = answer.time
      answers.removeAll(keepingCapacity: true)
      size = 0
    }
    let hash = Self.hash(answer.key)
    let former = answers[hash]?.size ?? 0
    guard size - former + answer.size <= capacity else { return }
    size += answer.size - former
    answers[hash] = answer
  }

  private static func hash(_ key: [UInt8]) -> Int {
    var hasher = Hasher()
    key.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
