import CSystemFaults

/// A change that a system call made on disk. Paths are relative to the watched folder; files are numbered in
/// the order in which they are made.
public enum SystemChange: Sendable, Hashable {
  /// A file was made.
  case created(path: String, file: Int64)
  /// Bytes were written.
  case written(file: Int64, offset: Int64, bytes: [UInt8])
  /// A file was given a length.
  case truncated(file: Int64, length: Int64)
  /// Blocks were reserved up to a length.
  case allocated(file: Int64, length: Int64)
  /// A name was changed.
  case renamed(from: String, to: String)
  /// Another name was given to a file.
  case linked(from: String, to: String)
  /// A name was removed.
  case unlinked(path: String)
  /// A folder was made.
  case folderMade(path: String)
  /// A folder was removed.
  case folderRemoved(path: String)
  /// A file's content was synced to disk.
  case synced(file: Int64)
  /// A folder's names were synced to disk.
  case folderSynced(path: String)

  init?(_ change: faults_change) {
    let path = change.path.map { String(cString: $0) } ?? ""
    let from = change.from.map { String(cString: $0) } ?? ""
    switch faults_changes(UInt32(change.kind)) {
    case FAULTS_CREATED: self = .created(path: path, file: change.file)
    case FAULTS_WRITTEN:
      let bytes = UnsafeRawBufferPointer(start: change.bytes, count: Int(change.length))
      self = .written(file: change.file, offset: change.offset, bytes: Array(bytes))
    case FAULTS_TRUNCATED: self = .truncated(file: change.file, length: change.length)
    case FAULTS_ALLOCATED: self = .allocated(file: change.file, length: change.length)
    case FAULTS_RENAMED: self = .renamed(from: from, to: path)
    case FAULTS_LINKED: self = .linked(from: from, to: path)
    case FAULTS_UNLINKED: self = .unlinked(path: path)
    case FAULTS_DIRECTORY_MADE: self = .folderMade(path: path)
    case FAULTS_DIRECTORY_REMOVED: self = .folderRemoved(path: path)
    case FAULTS_SYNCED: self = .synced(file: change.file)
    case FAULTS_DIRECTORY_SYNCED: self = .folderSynced(path: path)
    default: return nil
    }
  }
}
