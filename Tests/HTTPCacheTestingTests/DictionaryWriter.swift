import HTTPCacheStore
import HTTPTypes
import Synchronization

extension DictionaryStore {
  /// A body, stored or growing; its own reader.
  final class Body: StoredBody, BodyReader {
    private let announced: Int64?
    private let state = Mutex<(bytes: [UInt8], isComplete: Bool)>(([], false))

    init(announced: Int64?) { self.announced = announced }

    var count: Int64 { state.withLock { Int64($0.bytes.count) } }
    var length: Int64? { state.withLock { $0.isComplete ? Int64($0.bytes.count) : announced } }
    var availableRanges: [Range<Int64>] { [0..<count] }

    func append(_ bytes: BodyBytes) { state.withLock { $0.bytes += bytes.array } }
    func complete() { state.withLock { $0.isComplete = true } }
    func open() throws(CacheError) -> any BodyReader { self }

    func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
      state.withLock { state in
        let range = range.clamped(to: 0..<Int64(state.bytes.count))
        return BodyBytes(state.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
      }
    }
  }
}

/// Appends to a body, and gives it to the store at the commit.
final class DictionaryWriter: BodyWriter {
  typealias Commit = @Sendable (HTTPFields) throws(CacheError) -> CacheRecord

  private let body: DictionaryStore.Body
  private let limit: Int64
  private let insert: Commit
  private let isEnded = Mutex(false)

  init(_ body: DictionaryStore.Body, limit: Int64, insert: @escaping Commit) {
    self.body = body
    self.limit = limit
    self.insert = insert
  }

  var bytesWritten: Int64 { body.count }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !isEnded.withLock({ $0 }) else { throw CacheError(.closed, "the writer has ended") }
    guard body.count + Int64(bytes.count) <= limit else {
      abandon()
      throw CacheError(.tooLarge, "more than \(limit) bytes")
    }
    body.append(bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let wasEnded = isEnded.withLock { isEnded in
      defer { isEnded = true }
      return isEnded
    }
    guard !wasEnded else { throw CacheError(.closed, "the writer has ended") }
    guard body.length ?? body.count == body.count else {
      throw CacheError(.damaged, "\(body.count) bytes are not as many as were announced")
    }
    body.complete()
    return try insert(trailers)
  }

  func abandon() { isEnded.withLock { $0 = true } }

  func reader() throws(CacheError) -> any BodyReader { body }
}
