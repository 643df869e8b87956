import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

extension CacheDirectory {
  /// The file that `tar --exclude-caches`, restic, borg and others look for (bford.info/cachedir).
  static let tagName = "CACHEDIR.TAG"
  private static let tag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This file marks a cache, which can be made anew: backups pass over it.
    # See https://bford.info/cachedir/

    """

  /// Excludes the folder from backups. A failure has no other effect than that the folder is backed up.
  func excludeFromBackups() {
    writeTag()
    #if canImport(Darwin)
      excludeFromTimeMachine()
    #endif
  }

  private func writeTag() {
    // Keep a file that exists: the user may have changed it.
    guard let file = try? CacheFile(Self.tagName, in: root, flags: CacheFile.making) else { return }
    let bytes = BodyBytes(Array(Self.tag.utf8))
    let isWritten =
      (try? bytes.withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) })
      != nil
    if !isWritten { root.remove(Self.tagName) }
  }

  #if canImport(Darwin)
    // The value of the attribute: a property list of one string that names the service excluding the folder.
    private static let exclusion: [UInt8] =
      Array("bplist00".utf8) + [0x5F, 0x10, 0x11] + Array("com.apple.backupd".utf8) + [0x08]
      + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
      + [0, 0, 0, 0, 0, 0, 0, 0x1C]

    /// Keeps the folder out of Time Machine's and the device's backups.
    func excludeFromTimeMachine() {
      let value = Self.exclusion
      _ = value.withUnsafeBytes {
        fsetxattr(
          root.descriptor, "com.apple.metadata:com_apple_backup_excludeItem", $0.baseAddress,
          $0.count, 0, 0)
      }
    }
  #endif
}
