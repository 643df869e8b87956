public import Foundation
import HTTPCacheFiles
public import HTTPCacheStore

/// Opens seeds of every kind.
public enum Seeds {
  /// Opens a folder (`FolderSeed`), an archive (`ArchiveSeed`), or a recording (`RecordingSeed`), by its content.
  ///
  /// - Throws: `CacheError.unavailable` if there is nothing at the path; what the initialiser of the kind throws.
  public static func open(path: String) throws(CacheError) -> any SeedSource {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CacheError(.unavailable, "there is no archive, recording or folder \(path)")
    }
    if isFolder.boolValue { return try FolderSeed(path: path) }
    switch try SeedKind(of: try CacheFile(path: path), path) {
    case .har, .compressedHAR, .warc, .wacz: return try RecordingSeed(path: path)
    case .archive: return try ArchiveSeed(path: path)
    case nil:
      let forms = "neither an archive nor a HAR, a WARC, an ARC or a WACZ file, or its beginning is damaged"
      throw CacheError(.damaged, "\(path) is \(forms)")
    }
  }
}

/// The kind of a file with seeds, by its first bytes.
enum SeedKind {
  case archive
  case har
  /// A HAR file that is compressed with gzip.
  case compressedHAR
  /// Also an ARC file, which `WARCImport` tells apart when it is decompressed.
  case warc
  case wacz

  /// Nil for any other file.
  ///
  /// - Parameter path: its path, for messages.
  /// - Throws: `CacheError.io`, also if it is not a regular file; `CacheError.damaged` if it is cut meanwhile, or in a form
  ///   that is known and not read.
  init?(of file: CacheFile, _ path: String) throws(CacheError) {
    let start = try file.read(Int(min(64, try file.length())), at: 0).array
    if start.starts(with: ArchiveFormat.magic.dropLast()) {
      self = .archive
    } else if start.starts(with: ARCHeader.start.utf8) || WARCRecord.begins(start) {
      self = .warc
    } else if start.starts(with: [0x1F, 0x8B]) {
      self = try Self.isObject(Self.unpackedStart(of: file)) ? .compressedHAR : .warc
    } else if start.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      self = .wacz
    } else if let form = UnreadForm(start: start) {
      throw CacheError(.damaged, "\(path) is \(form)")
    } else if Self.isObject(start) {
      self = .har
    } else {
      return nil
    }
  }

  /// Whether a text begins like a JSON object; a byte order mark and spaces may come before it.
  private static func isObject(_ start: [UInt8]) -> Bool {
    start.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
  }

  /// The start of a file that is compressed with gzip; empty if it is damaged there.
  private static func unpackedStart(of file: CacheFile) throws(CacheError) -> [UInt8] {
    var start = try file.read(Int(min(64 << 10, try file.length())), at: 0)
    do {
      var decoder = try DeflateDecoder()
      return try decoder.decode(&start).array
    } catch {
      return []
    }
  }
}

extension SeedSource where Self == FolderSeed {
  /// Opens content of a bundle: a folder such as a folder reference `PreCache`, an archive, a HAR or a WARC file.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.userCaches("com.example.app", seeds: [.bundle("PreCache")]))
  /// ```
  ///
  /// - Parameters:
  ///   - name: the path below the bundle's resources.
  ///   - bundle: the bundle; by default the app's.
  /// - Returns: the source that `Seeds.open(path:)` opens.
  /// - Throws: as `Seeds.open(path:)`; `CacheError.io` if the bundle has no resources.
  public static func bundle(
    _ name: String, in bundle: Bundle = .main
  ) throws(CacheError) -> any SeedSource {
    try Seeds.open(path: try bundle.seedPath(name))
  }
}
