import HTTPCacheStore

/// The body of a response in a file of a folder.
final class FolderBody: StoredBody {
  private let root: SystemFile
  private let file: FolderFile

  init(_ file: FolderFile, below root: SystemFile) {
    self.file = file
    self.root = root
  }

  /// Opens the file.
  ///
  /// - Throws: `CacheError.damaged` if its length changed since the folder was opened, `CacheError.io`.
  func open() throws(CacheError) -> any BodyReader {
    let opened = try SystemFile(file.path, below: root)
    guard try opened.length() == file.length else {
      throw CacheError(.damaged, "\(file.path) changed since its folder was opened")
    }
    return Reader(opened, length: file.length)
  }

  /// Reads an open file. The bytes of a folder have no checksums: they are what the file says.
  private final class Reader: BodyReader {
    private let file: SystemFile
    private let count: Int64

    init(_ file: SystemFile, length: Int64) {
      self.file = file
      count = length
    }

    var length: Int64? { count }

    var fileRegion: FileRegion? {
      FileRegion(descriptor: file.descriptor, offset: 0, count: count, isVerified: true)
    }

    func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
      let range = range.clamped(to: 0..<count)
      return try file.read(Int(range.upperBound - range.lowerBound), at: range.lowerBound)
    }

    func clone(to path: String) async throws(CacheError) {
      try await NewFile.make(at: path, length: count) { (range) throws(CacheError) in
        try await self.read(range)
      }
    }
  }
}
