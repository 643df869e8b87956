import HTTPCacheFiles

/// A temporary file without a name, for bytes that no reader has taken yet. It vanishes with its last user,
/// and with the process.
typealias SpillFile = OpenFile<POSIXError>

extension POSIXError: SystemFailure {
  package init(number: Int32, during operation: String) {
    self.init(POSIXErrorCode(rawValue: number) ?? .EIO)
  }
}
