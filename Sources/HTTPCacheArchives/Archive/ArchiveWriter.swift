import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// Writes an archive of responses, which an `ArchiveSeed` reads.
///
/// The bytes of an archive follow from its responses and their order alone: equal input makes equal files. The file
/// appears under its name when it is complete; an existing file is then replaced.
///
/// ```swift
/// let writer = try ArchiveWriter(path: "content.hca")
/// try await writer.add(contentsOf: try FolderSeed(path: "PreCache"))
/// try await writer.finish()
/// ```
public actor ArchiveWriter {
  private let new: ReplacedFile
  private var output: ArchiveOutput
  private var isAdding = false
  private var isDone = false

  /// Begins an archive, in a temporary file beside `path`.
  ///
  /// - Throws: `CacheError.io` or `CacheError.noSpace` if the file cannot be made.
  public init(path: String) throws(CacheError) {
    new = try ReplacedFile(path: path)
    output = try ArchiveOutput(new.file)
  }

  /// Adds all responses of a source, in the order of its list. Cookies are left out (`Set-Cookie`).
  ///
  /// - Returns: the number of responses added.
  /// - Throws: what reading the source throws, `CacheError.io`, `CacheError.noSpace`, `CacheError.cancelled`.
  @discardableResult
  public func add(contentsOf source: any SeedSource) async throws(CacheError) -> Int {
    var number = 0
    while true {
      let page = try source.responses(from: number, limit: 64)
      for seed in page { try await add(seed) }
      number += page.count
      if page.isEmpty { return number }
    }
  }

  /// Adds a response, also to each of its `otherTargets`. Its cookies are left out (`Set-Cookie`). Responses are added one after the other.
  ///
  /// - Throws: `CacheError.invalidRequest` for a response that no request without secrets selects, what reading
  ///   its body throws, `CacheError.tooLarge` for a head that is too long or for too many responses,
  ///   `CacheError.busy` while another one is being added, `CacheError.io`, `CacheError.noSpace`,
  ///   `CacheError.cancelled`.
  public func add(_ seed: SeedResponse) async throws(CacheError) {
    guard !isDone else { throw CacheError(.closed, "the archive is finished") }
    guard !isAdding else { throw CacheError(.busy, "another response is being added to the archive") }
    isAdding = true
    defer { isAdding = false }
    do throws(CacheError) {
      try await copy(seed)
      let body = try output.endBody()
      for target in [seed.target] + seed.otherTargets { try output.add(target, seed.response, body: body) }
    } catch {
      try output.discardBody()
      throw error
    }
  }

  private func copy(_ seed: SeedResponse) async throws(CacheError) {
    let reader = try seed.body.open()
    for start in stride(from: 0, to: seed.bodyLength, by: Int(ArchiveFormat.blockLength)) {
      let end = min(seed.bodyLength, start + ArchiveFormat.blockLength)
      try output.append(try await reader.readCancellably(start..<end))
    }
  }

  /// Writes the table, waits until the file is on the disk, and gives it its name. The writer takes nothing
  /// afterwards.
  ///
  /// - Returns: the length of the archive in bytes.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.closed` when called again,
  ///   `CacheError.busy` while a response is being added.
  @discardableResult
  public func finish() throws(CacheError) -> Int64 {
    guard !isDone else { throw CacheError(.closed, "the archive is finished") }
    guard !isAdding else { throw CacheError(.busy, "a response is being added to the archive") }
    let length = try output.finish()
    try new.finish()
    isDone = true
    return length
  }
}
