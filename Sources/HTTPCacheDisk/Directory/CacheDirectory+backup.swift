import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
    let flags = O_WRONLY | O_CREAT | O_EXCL
    // Keep a file that exists: the user may have changed it.
    guard let file = try? OpenFile(Self.tagName, in: root, flags: flags, mode: 0o600) else { return }
    let bytes = BodyBytes(Array(Self.tag.utf8))
    let isWritten =
      (try? bytes.withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) })
      != nil
    if !isWritten { unlinkat(root.descriptor, Self.tagName, 0) }
  }
}
