import Foundation
import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// Adds exchanges to a HAR file, one after the other, in a task of its own. The file is replaced at the end, and only
/// if there was an exchange.
final class HARRecorder: Sendable {
  private struct Job: Sendable {
    let entry: HAREntry
    let body: CacheFile
    let length: Int64
  }

  private let jobs: AsyncStream<Job>.Continuation
  /// The bytes that further bodies may have.
  private let left: Atomic<Int64>
  private let leftOutCount = Atomic(0)
  private let task: Task<Result<Int, CacheError>, Never>

  /// - Parameters:
  ///   - keepsEarlier: whether the entries of an existing file stay.
  ///   - limit: the maximum number of bytes of all bodies.
  init(path: String, keepsEarlier: Bool, limit: Int64) {
    left = Atomic(limit)
    let (stream, jobs) = AsyncStream.makeStream(of: Job.self)
    self.jobs = jobs
    task = Task {
      do throws(CacheError) {
        return .success(try await Self.write(stream, to: path, keepsEarlier: keepsEarlier))
      } catch {
        return .failure(error)
      }
    }
  }

  private static func write(
    _ jobs: AsyncStream<Job>, to path: String, keepsEarlier: Bool
  ) async throws(CacheError) -> Int {
    var jobs = jobs.makeAsyncIterator()
    guard var job = await jobs.next() else { return 0 }
    let new = try ReplacedFile(path: path)
    var output = try HAROutput(new.file)
    if keepsEarlier, FileManager.default.fileExists(atPath: path) {
      let earlier = try UnpackedCopy.har(try CacheFile(path: path), name: path)
      var scanner = try HARScanner.open(earlier, path)
      while let slice = try scanner.next() { try output.copy(slice.range, of: earlier) }
    }
    var count = 0
    while true {
      try await output.add(job.entry, body: FileReading(job.body, length: job.length), length: job.length)
      count += 1
      guard let next = await jobs.next() else { break }
      job = next
    }
    try output.finish()
    try new.finish()
    return count
  }

  /// The number of exchanges that were left out because of the limit.
  var leftOut: Int { leftOutCount.load(ordering: .relaxed) }

  /// Takes bytes of a body from those that are left.
  ///
  /// - Returns: false if not so many are left.
  func reserve(_ count: Int64) -> Bool {
    guard left.subtract(count, ordering: .relaxed).newValue < 0 else { return true }
    release(count)
    leftOutCount.add(1, ordering: .relaxed)
    return false
  }

  /// Gives back the bytes of a body that is not recorded.
  func release(_ count: Int64) { left.add(count, ordering: .relaxed) }

  /// Adds an exchange.
  ///
  /// - Parameter body: the body of the response, `length` bytes.
  func add(_ entry: HAREntry, body: CacheFile, length: Int64) {
    jobs.yield(Job(entry: entry, body: body, length: length))
  }

  /// Ends the file.
  ///
  /// - Returns: the number of exchanges that were added.
  /// - Throws: the first error of writing; the file is then as it was before.
  func finish() async throws(CacheError) -> Int {
    jobs.finish()
    return try await task.value.get()
  }
}
