import CSystemFaults

/// Kinds of system calls on files.
public struct SystemCalls: OptionSet, Sendable, Hashable {
  /// The bits of the kinds.
  public let rawValue: UInt32

  /// Makes a set of kinds.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ call: faults_calls) { self.init(rawValue: UInt32(call.rawValue)) }

  /// Opening and creating.
  public static let open = SystemCalls(FAULTS_OPEN)
  /// Reading.
  public static let read = SystemCalls(FAULTS_READ)
  /// Writing.
  public static let write = SystemCalls(FAULTS_WRITE)
  /// Changing a file's length.
  public static let truncate = SystemCalls(FAULTS_TRUNCATE)
  /// Reserving blocks.
  public static let allocate = SystemCalls(FAULTS_ALLOCATE)
  /// Renaming.
  public static let rename = SystemCalls(FAULTS_RENAME)
  /// Making another name for a file.
  public static let link = SystemCalls(FAULTS_LINK)
  /// Removing a name.
  public static let unlink = SystemCalls(FAULTS_UNLINK)
  /// Syncing a file or folder to disk.
  public static let sync = SystemCalls(FAULTS_SYNC)
  /// Making a folder.
  public static let makeDirectory = SystemCalls(FAULTS_MAKE_DIRECTORY)

  /// All calls that change something on disk.
  public static let changing: SystemCalls = [
    .open, .write, .truncate, .allocate, .rename, .link, .unlink, .sync, .makeDirectory,
  ]
  /// All calls.
  public static let all: SystemCalls = [.changing, .read]
}
