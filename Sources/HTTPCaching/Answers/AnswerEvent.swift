/// When the observer is told of an answer from the store.
enum AnswerEvent {
  case atOnce
  /// By whoever reads the beginning of its body first: if that cannot be read, it was no answer.
  case onceReadable
}
