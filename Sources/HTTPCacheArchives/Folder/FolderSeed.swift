public import Foundation
import HTTPCacheFiles
import HTTPCacheLibC
public import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// Seeds in a folder of plain files, laid out as EVURLCache's `PreCache`: `host/path`, `index.html` added to a path
/// whose last name has no dot, `_query` to a path with a query, and `host_port` for a host with a port.
///
/// ```swift
/// let cache = try HTTPCache.open(
///   HTTPCache.Configuration(directory: "cache", seeds: [try FolderSeed(path: "PreCache")]))
/// ```
///
/// A file without a recorded head has a type by its extension or content, and neither lifetime nor validators: it
/// is stale, is fetched when the origin can be reached, and answers when not. The file `seeds.jsonl` in the
/// folder records heads, so that responses are validated instead of fetched; `httpcache unpack` writes it. A file
/// that it names answers the recorded targets only.
/// Files that EVURLCache wrote itself, archives of objects, are left out.
///
/// The folder is listed once, when it is opened. Symbolic links are not followed. Names that differ only in the
/// Unicode normal form are one name.
public final class FolderSeed: SeedSource {
  /// How a folder is read.
  public struct Options: Sendable {
    /// Whether paths match in any case, as with EVURLCache's `FORCE_LOWERCASE`. Default false: an origin may mean
    /// two things by `/A` and `/a`.
    public var ignoresCase: Bool
    /// The maximum number of files; a folder with more is refused.
    public var maximumFiles: Int
    /// The name that stands for the path of a target, as EVURLCache's field `MobileAppCacheKey` gave it to requests:
    /// several targets of a host then have the file `host/name`. nil for no such target. A query is appended as to a
    /// path.
    public var alias: (@Sendable (_ target: String) -> String?)?

    /// Makes options.
    public init(
      ignoresCase: Bool = false, maximumFiles: Int = 200_000,
      alias: (@Sendable (_ target: String) -> String?)? = nil
    ) {
      self.ignoresCase = ignoresCase
      self.maximumFiles = maximumFiles
      self.alias = alias
    }
  }

  /// A response: a file with a recorded head, or without.
  private struct Item: Sendable {
    let target: String
    let file: Int
    let entry: FolderManifest.Entry?
  }

  /// The path of the folder.
  public let name: String
  /// Files that are left out, and why; at most 100.
  public let notes: [String]
  /// The number of files that are left out, also those beyond the notes.
  public let noteCount: Int
  /// The latest time at which a response was received, or a file without a recorded head was modified.
  public let newest: Timestamp

  private let root: CacheFile
  private let options: Options
  private let files: [FolderFile]
  private let byPath: [String: Int]
  private let items: [Item]
  private let recorded: [String: [Int]]

  /// Opens a folder, and reads the names of its files.
  ///
  /// - Throws: `CacheError.io` if the folder cannot be read, `CacheError.tooLarge` if it has too many files, or
  ///   `seeds.jsonl` names long files again and again; `CacheError.damaged` if `seeds.jsonl` is not as described in docs/archives.md.
  public init(path: String, options: Options = Options()) throws(CacheError) {
    name = path
    self.options = options
    root = try CacheFile(path: path, flags: O_RDONLY | O_DIRECTORY)
    let walk = try FolderWalk(root, limit: options.maximumFiles)
    files = walk.files
    var notes = walk.notes
    var byPath: [String: Int] = [:]
    for (number, file) in files.enumerated() {
      let key = Self.key(file.path, options.ignoresCase)
      if let first = byPath[key] {
        notes.append("\(file.path): the same name as \(files[first].path)")
      } else {
        byPath[key] = number
      }
    }
    var (items, recorded, named) = ([Item](), [String: [Int]](), Set<Int>())
    for entry in try Self.manifest(root, files) {
      guard let file = byPath[Self.key(entry.line.file, options.ignoresCase)] else {
        notes.append("\(FolderManifest.name), line \(entry.number): there is no file \(entry.line.file)")
        continue
      }
      named.insert(file)
      guard Self.response(entry, files[file], target: entry.target, type: nil) != nil else {
        notes.append("\(FolderManifest.name), line \(entry.number): no request can select it (Vary)")
        continue
      }
      recorded[entry.target, default: []].append(items.count)
      items.append(Item(target: entry.target, file: file, entry: entry))
    }
    for number in byPath.values.sorted() where !named.contains(number) {
      guard let target = FolderLayout.target(of: files[number].path) else { continue }
      guard try !Self.isObjectArchive(files[number], below: root) else {
        notes.append("\(files[number].path): an archive of objects that EVURLCache wrote, not a body")
        byPath[Self.key(files[number].path, options.ignoresCase)] = nil
        continue
      }
      items.append(Item(target: target, file: number, entry: nil))
    }
    try Self.checkLength(items, of: files, path)
    // With a recorded head, a body may be coded, or that of an error: it answers nothing else.
    self.byPath = byPath.filter { !named.contains($0.value) }
    self.items = items
    self.recorded = recorded
    self.notes = Array(notes.prefix(100))
    noteCount = notes.count
    newest = Timestamp(
      seconds: items.map { $0.entry?.line.received ?? walk.files[$0.file].modified }.max() ?? 0)
  }

  /// Several responses may have one file.
  private static func checkLength(
    _ items: [Item], of files: [FolderFile], _ path: String
  ) throws(CacheError) {
    var limit = UnpackedLimit(length: files.reduce(0) { $0.addingReportingOverflow($1.length).partialValue })
    for item in items { try limit.take(files[item.file].length, of: path) }
  }

  private static func manifest(
    _ root: CacheFile, _ files: [FolderFile]
  ) throws(CacheError) -> [FolderManifest.Entry] {
    guard let file = files.first(where: { $0.path == FolderManifest.name }) else { return [] }
    guard file.length <= FolderManifest.longest else {
      throw CacheError(.tooLarge, "\(FolderManifest.name) is longer than \(FolderManifest.longest) bytes")
    }
    let bytes = try CacheFile.file(file.path, below: root).read(Int(file.length), at: 0)
    return try FolderManifest.read(bytes.array)
  }

  /// Whether a file is a property list that its name does not announce: EVURLCache archived whole responses so.
  private static func isObjectArchive(
    _ file: FolderFile, below root: CacheFile
  ) throws(CacheError) -> Bool {
    let start = Array("bplist00".utf8)
    guard file.length >= start.count, !file.path.hasSuffix(".plist") else { return false }
    return try CacheFile.file(file.path, below: root).read(start.count, at: 0).array == start
  }

  // Swift compares strings by canonical equivalence, so both normal forms of a name are one key.
  private static func key(_ path: String, _ ignoresCase: Bool) -> String {
    ignoresCase ? path.lowercased() : path
  }

  /// The number of responses.
  public var count: Int { items.count }

  /// The recorded responses for a target; without any, the file at its path.
  ///
  /// - Throws: `CacheError.io` if a file cannot be read.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    if let numbers = recorded[target] {
      var found: [SeedResponse] = []
      for number in numbers {
        if let response = try response(items[number]) { found.append(response) }
      }
      return found
    }
    guard let file = file(answering: target) else { return [] }
    return try response(Item(target: target, file: file, entry: nil)).map { [$0] } ?? []
  }

  /// The number of the file without a recorded head that answers a target.
  private func file(answering target: String) -> Int? {
    FolderLayout.paths(of: target, alias: options.alias?(target)).lazy
      .compactMap { self.byPath[Self.key($0, self.options.ignoresCase)] }.first
  }

  /// The other targets that the file of an item answers; none for a recorded head, which names its target. Targets that
  /// `alias` or `ignoresCase` leads to a file cannot be listed.
  private func otherTargets(of item: Item) -> [String] {
    guard item.entry == nil else { return [] }
    var found: [String] = []
    for target in FolderLayout.targets(of: files[item.file].path)
    where target != item.target && !found.contains(target) && recorded[target] == nil
      && file(answering: target) == item.file
    {
      found.append(target)
    }
    return found
  }

  /// The recorded responses, then the other files in the order of their paths.
  ///
  /// - Throws: `CacheError.io` if a file cannot be read.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    var found: [SeedResponse] = []
    for item in items.dropFirst(max(0, position)).prefix(max(0, limit)) {
      guard var response = try response(item) else { continue }
      response.otherTargets = otherTargets(of: item)
      found.append(response)
    }
    return found
  }

  private func response(_ item: Item) throws(CacheError) -> SeedResponse? {
    let file = files[item.file]
    let isTyped = item.entry?.fields[.contentType] != nil || item.entry.map { $0.line.status != 200 } ?? false
    let type = isTyped ? nil : try type(of: file)
    return Self.response(item.entry, file, target: item.target, type: type).map {
      SeedResponse(
        target: item.target, response: $0, bodyLength: file.length, body: FolderBody(file, below: root),
        bodyPath: "\(name)/\(file.path)")
    }
  }

  private static func response(
    _ entry: FolderManifest.Entry?, _ file: FolderFile, target: String, type: String?
  ) -> StoredResponse? {
    let received = entry?.line.received ?? file.modified
    var fields = entry?.fields ?? [:]
    if let type { fields[.contentType] = type }
    let head = RecordedHead(
      target: target, status: entry?.line.status ?? 200, fields: fields, request: entry?.request,
      times: (entry?.line.requested ?? received, received))
    return SeedHead.response(head, length: file.length)
  }

  private func type(of file: FolderFile) throws(CacheError) -> String {
    let last = file.path.split(separator: "/").last.map(String.init) ?? ""
    let plain = FolderLayout.nameWithoutQuery(last)
    if let dot = plain.lastIndex(of: "."),
      let type = MediaType.ofExtension(String(plain[plain.index(after: dot)...]))
    {
      return type
    }
    let opened = try CacheFile.file(file.path, below: root)
    return MediaType.ofContent(try opened.read(Int(min(512, file.length)), at: 0).array)
  }
}

extension FolderSeed {
  /// Opens a folder of a bundle, such as a folder reference `PreCache` of an app.
  ///
  /// - Parameters:
  ///   - name: the path of the folder below the bundle's resources.
  ///   - bundle: the bundle; by default the app's.
  ///   - options: how the folder is read.
  /// - Throws: as `init(path:options:)`; `CacheError.io` if the bundle has no such folder.
  public convenience init(
    bundled name: String, in bundle: Bundle = .main, options: Options = Options()
  ) throws(CacheError) {
    try self.init(path: try bundle.seedPath(name), options: options)
  }
}

extension Bundle {
  /// The path of a resource.
  ///
  /// - Throws: `CacheError.io` if the bundle has no resources.
  func seedPath(_ name: String) throws(CacheError) -> String {
    guard let folder = resourceURL else { throw CacheError(.io, "the bundle has no resources: \(name)") }
    return folder.appendingPathComponent(name).path
  }
}
