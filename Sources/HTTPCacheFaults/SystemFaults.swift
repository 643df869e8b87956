import CSystemFaults
import HTTPCacheLibC

/// Injects faults into system calls on the files of one folder, for the whole process, including SQLite.
///
/// A program that links this module intercepts the C library's calls on files, and passes them on unless a
/// `SystemFaults` exists for their folder. A file must be opened while it exists.
///
///     let faults = try SystemFaults(below: folder)
///     let store = try MyStore(directory: folder + "/cache")
///     faults.fail(.write, with: .noSpace, at: 3)
public final class SystemFaults: @unchecked Sendable {
  // @unchecked Sendable because the plan has its own lock.
  private let plan: OpaquePointer
  /// The folder, without symbolic links.
  public let folder: String

  /// Whether calls can be intercepted on this platform: on Linux with glibc.
  public static var isAvailable: Bool { faults_are_available() != 0 }

  /// Starts watching a folder, which must exist.
  ///
  /// - Parameters:
  ///   - folder: the folder; everything below it counts.
  ///   - recordsChanges: records all changes, for `changes`.
  /// - Throws: `FaultError` if that is impossible.
  public init(below folder: String, recordsChanges: Bool = false) throws(FaultError) {
    guard let resolved = realpath(folder, nil) else {
      throw FaultError("\(folder): \(String(cString: strerror(errno)))")
    }
    defer { free(resolved) }
    guard let plan = faults_begin(resolved, recordsChanges ? 1 : 0) else {
      throw FaultError("system calls cannot be caught here")
    }
    self.plan = plan
    self.folder = String(cString: resolved)
  }

  deinit { faults_end(plan) }

  /// Injects a fault into calls.
  ///
  /// - Parameters:
  ///   - calls: the kinds of calls.
  ///   - suffix: only calls on files whose path ends with this text.
  ///   - fault: the fault.
  ///   - number: the first such call, counted from now; 1 is the next one.
  ///   - times: the number of calls from then on.
  public func fail(
    _ calls: SystemCalls, onFilesEndingIn suffix: String = "", with fault: SystemFault,
    at number: Int = 1, times: Int = 1
  ) {
    let first = Int64(max(1, number))
    let (last, isEndless) = first.addingReportingOverflow(Int64(max(1, times)) - 1)
    _ = faults_add(
      plan, calls.rawValue, suffix, first, isEndless ? .max : last, fault.action, fault.value)
  }

  /// Removes all faults.
  public func heal() { faults_heal(plan) }

  /// The number of calls of some kinds.
  public func count(_ calls: SystemCalls) -> Int { Int(faults_count(plan, calls.rawValue)) }

  /// The number of changes so far.
  public var changeCount: Int { Int(faults_change_count(plan)) }

  /// The changes so far, in order. Changes through mapped memory are not seen.
  public var changes: [SystemChange] {
    (0..<faults_change_count(plan)).compactMap { SystemChange(faults_change_at(plan, $0)) }
  }
}
