/// When the observer is told of an answer from the store.
enum AnswerEvent {
  case atOnce
  /// When a reader first reads the beginning of the body: if that read fails, the answer does not count.
  case onceReadable
}
