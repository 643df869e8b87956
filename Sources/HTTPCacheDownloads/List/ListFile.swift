import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheSealing
import HTTPCaching

/// The file of a list, as far as it is read: where it is, and how its records are encrypted.
struct ListFile: Sendable {
  let name: String
  /// The folder `downloads` in the cache's directory.
  let folder: String
  let path: String
  /// The path of the pipe for requests of other processes.
  let pipe: String
  /// Encrypts the records; nil writes plain text.
  private let cipher: (any CacheCipher)?
  private let context: [UInt8]

  /// The longest file that is read.
  private static let longest: Int64 = 1 << 30

  init(name: String, directory: String, cipher: (any CacheCipher)?) {
    self.name = name
    folder = directory + "/downloads"
    path = "\(folder)/\(name).list"
    pipe = "\(folder)/\(name).requests"
    self.cipher = cipher
    context = Array("download list \(name)".utf8)
  }

  /// The contents of a list.
  struct Contents {
    var items: [DownloadItem]
    /// The damage, in words; nil without.
    var damage: String?
    /// The length of the file in bytes, if each of its records is the only one of its download; nil if the file has
    /// to be written anew.
    var length: Int64?
  }

  /// Reads the list. What is readable is kept.
  ///
  /// - Throws: `DownloadError` with `unavailable` if the file cannot be read.
  func read() throws(DownloadError) -> Contents {
    let bytes = try contents()
    var items: [DownloadID: DownloadItem] = [:]
    // A record of a usual URL has about 200 bytes.
    items.reserveCapacity(bytes.count / 200)
    var (found, unreadable) = (0, 0)
    let damagedBytes = bytes.withUnsafeBytes { bytes in
      ListFrames.read(bytes) { payload in
        found += 1
        switch payload {
        case .removal(let id): items[DownloadID(rawValue: id)] = nil
        case .item(let record):
          do throws(CacheError) {
            let item = try decode(record)
            items[item.id] = item
          } catch { unreadable += 1 }
        }
      }
    }
    let damage =
      damagedBytes > 0 || unreadable > 0
      ? "\(damagedBytes) damaged bytes and \(unreadable) unreadable records; \(items.count) downloads are kept"
      : nil
    let isCompact = damage == nil && found == items.count && !items.isEmpty
    return Contents(
      items: Array(items.values), damage: damage, length: isCompact ? Int64(bytes.count) : nil)
  }

  private func decode(_ record: UnsafeRawBufferPointer) throws(CacheError) -> DownloadItem {
    guard let cipher else { return try DownloadRecord.decode(record) }
    return try DownloadRecord.decode(try cipher.open(Array(record), for: .record, context: context))
  }

  /// The bytes of a download in the file.
  ///
  /// - Throws: `CacheError`.
  func frame(_ item: DownloadItem) throws(CacheError) -> [UInt8] {
    guard let plain = DownloadRecord.encode(item) else {
      throw CacheError(.tooLarge, "the record of \(item.download.url.prefix(80)) is too long for the list")
    }
    return ListFrames.frame(item: try cipher?.seal(plain, for: .record, context: context) ?? plain)
  }

  private func contents() throws(DownloadError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw DownloadList.error("open \(path)")
    }
    defer { HTTPCacheLibC.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int64(status.st_size) <= Self.longest
    else { throw DownloadError(.unavailable, "\(path) is not a list of downloads") }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, Descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), from: descriptor, at: 0))
    }
    guard bytes.count == size else { throw DownloadList.error("read \(path)") }
    return bytes
  }
}
