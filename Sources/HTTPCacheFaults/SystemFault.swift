import CSystemFaults
import HTTPCacheLibC

/// The fault of a system call.
public enum SystemFault: Sendable, Hashable {
  /// It fails with an error number (`errno`).
  case failure(Int32)
  /// It reads or writes at most this number of bytes, and reports that.
  case short(bytes: Int)
  /// It writes at most this number of bytes, and fails with `EIO`.
  case torn(bytes: Int)
  /// The process is killed before it, with `SIGKILL`.
  case kill
  /// The process is killed after half of its bytes are written; if it writes none, before it.
  case killWithin

  /// The file system is full.
  public static let noSpace = SystemFault.failure(ENOSPC)
  /// The disk fails.
  public static let inputOutput = SystemFault.failure(EIO)
  /// The process has too many files open.
  public static let tooManyFiles = SystemFault.failure(EMFILE)

  var action: Int32 {
    let action =
      switch self {
      case .failure: FAULTS_FAIL
      case .short: FAULTS_SHORT
      case .torn: FAULTS_TEAR
      case .kill: FAULTS_KILL
      case .killWithin: FAULTS_KILL_WITHIN
      }
    return Int32(action.rawValue)
  }

  var value: Int64 {
    switch self {
    case .failure(let number): Int64(number)
    case .short(let bytes), .torn(let bytes): Int64(bytes)
    case .kill, .killWithin: 0
    }
  }
}
