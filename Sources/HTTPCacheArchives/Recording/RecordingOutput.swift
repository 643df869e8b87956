import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Collects the responses of a recording in an archive. Of several responses that one request selects, the last one
/// counts.
struct RecordingOutput: ~Copyable {
  var archive: ArchiveOutput
  /// The first 100 notes on parts that were left out.
  private(set) var notes: [String] = []
  /// The number of all parts that were left out.
  private(set) var noteCount = 0
  private var numbers: [NameHash: (entry: Int, order: Int)] = [:]
  private var limit: UnpackedLimit
  private let name: String

  /// - Parameters:
  ///   - recording: bounds the bodies by its length.
  ///   - name: the path of the recording.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  init(of recording: CacheFile, _ name: String) throws(CacheError) {
    let length = try recording.length()
    archive = try ArchiveOutput(try CacheFile.temporary())
    limit = UnpackedLimit(length: length)
    self.name = name
  }

  mutating func note(_ text: String) {
    if notes.count < 100 { notes.append(text) }
    noteCount += 1
  }

  /// Adds a response.
  ///
  /// - Parameters:
  ///   - body: the place of its body, which has ended.
  ///   - order: its number in the recording. Responses may be added in another order: the one with the highest counts.
  ///   - place: the place in the recording, for notes.
  /// - Throws: `CacheError.tooLarge` if the bodies are too long together, `CacheError.io`, `CacheError.noSpace`.
  mutating func add(_ head: RecordedHead, body: ArchiveOutput.Body, order: Int, place: String)
    throws(CacheError)
  {
    guard let response = SeedHead.response(head, length: body.length) else {
      return note("\(place): no request can select the response to \(head.target) (Vary)")
    }
    // A body counts for each response that has it: so often is it written when the recording is packed.
    try limit.take(body.length, of: name)
    let key = NameHash(
      response.nominated.reduce(into: head.target) { $0 += "\n\($1.name.canonicalName)=\($1.value)" })
    let earlier = numbers[key]
    if let earlier, earlier.order > order { return }
    do throws(CacheError) {
      let entry = try archive.add(head.target, response, body: body, replacing: earlier?.entry)
      numbers[key] = (entry, order)
    } catch
      where error.code == .invalidRequest || (error.code == .tooLarge && !notes.contains(error.message))
    {
      note("\(place): \(error.message)")
    }
  }

  /// Ends the archive.
  ///
  /// - Returns: the file, which has no name.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  mutating func finish() throws(CacheError) -> CacheFile {
    _ = try archive.finish()
    return archive.file
  }
}

/// Stands for a name of a recording, so that many long names take little memory. It is made under a secret of this process,
/// so that no recording has two names with one hash.
struct NameHash: Hashable {
  private let first: Int
  private let second: Int

  init(_ name: String) {
    var hasher = Hasher()
    hasher.combine(name)
    first = hasher.finalize()
    hasher = Hasher()
    hasher.combine(1)
    hasher.combine(name)
    second = hasher.finalize()
  }
}
