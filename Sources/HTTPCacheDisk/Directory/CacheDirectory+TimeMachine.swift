#if canImport(Darwin)
  import Darwin

  extension CacheDirectory {
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
  }
#endif
