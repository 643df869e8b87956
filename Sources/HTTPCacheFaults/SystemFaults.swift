import CSystemFaults

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes system calls on the files of one folder fail, for everything in the process, SQLite included.
///
/// A program that links this module catches the C library's calls on files and passes them on, unless
/// there is a `SystemFaults` for their folder. Files have to be opened while there is.
///
///     let faults = try SystemFaults(below: folder)
///     let store = try MyStore(directory: folder + "/cache")
///     faults.fail(.write, with: .noSpace, at: 3)
public final class SystemFaults: @unchecked Sendable {
  // @unchecked Sendable because the plan has a lock of its own.
  private let plan: OpaquePointer
  /// The folder, without symbolic links.
  public let folder: String

  /// Whether calls can be caught on this platform: on Linux with glibc.
  public static var isAvailable: Bool { faults_are_available() != 0 }

  /// Begins to watch a folder, which has to be there.
  ///
  /// - Parameters:
  ///   - folder: which one; all that is below it counts.
  ///   - recordsChanges: keeps all that is written, for `changes`.
  /// - Throws: `FaultError` if that cannot be.
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

  /// Makes calls do something else.
  ///
  /// - Parameters:
  ///   - calls: of which kinds.
  ///   - suffix: only on files whose path ends like this.
  ///   - fault: what they do.
  ///   - number: the first call concerned, counted from now; 1 is the next one.
  ///   - times: how many calls are concerned from then on.
  public func fail(
    _ calls: SystemCalls, onFilesEndingIn suffix: String = "", with fault: SystemFault,
    at number: Int = 1, times: Int = 1
  ) {
    let first = Int64(max(1, number))
    let (last, isEndless) = first.addingReportingOverflow(Int64(max(1, times)) - 1)
    _ = faults_add(
      plan, calls.rawValue, suffix, first, isEndless ? .max : last, fault.action, fault.value)
  }

  /// Lets everything succeed again.
  public func heal() { faults_heal(plan) }

  /// How many calls of some kinds there were.
  public func count(_ calls: SystemCalls) -> Int { Int(faults_count(plan, calls.rawValue)) }

  /// How much was changed so far.
  public var changeCount: Int { Int(faults_change_count(plan)) }

  /// What was changed so far, in order. Memory that files are mapped into is not seen.
  public var changes: [SystemChange] {
    (0..<faults_change_count(plan)).compactMap { SystemChange(faults_change_at(plan, $0)) }
  }
}

/// Why faults cannot be made.
public struct FaultError: Error, Sendable, CustomStringConvertible {
  /// A sentence for people.
  public let description: String

  init(_ description: String) { self.description = description }
}
