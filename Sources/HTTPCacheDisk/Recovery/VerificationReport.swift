/// The result of `DiskStore.verify(repair:)`.
public struct VerificationReport: Sendable, CustomStringConvertible {
  /// One fault in the directory.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Finding: Sendable, Hashable, CustomStringConvertible {
    /// SQLite finds the structure of the index damaged.
    case index(String)
    /// A record cannot be decoded.
    case record(id: Int64, String)
    /// The body file does not exist.
    case bodyMissing(target: String, path: String)
    /// A body differs from the bytes that were written.
    case body(target: String, String)
    /// A file below `bodies` that belongs to no entry.
    case orphan(path: String)
    /// Rows of another table that belong to no entry.
    case danglingRows(table: String, count: Int64)
    /// The usage in the table `state` differs from the sum of the entries.
    case usage(entries: Int64, counted: Int64, bytes: Int64, countedBytes: Int64)

    /// A sentence for people.
    public var description: String {
      switch self {
      case .index(let message): "index: \(message)"
      case .record(let id, let message): "entry \(id): \(message)"
      case .bodyMissing(let target, let path): "\(target): body \(path) is missing"
      case .body(let target, let message): "\(target): \(message)"
      case .orphan(let path): "bodies/\(path) belongs to no entry"
      case .danglingRows(let table, let count): "\(count) rows of \(table) belong to no entry"
      case .usage(let entries, let counted, let bytes, let countedBytes):
        "usage says \(entries) entries and \(bytes) bytes, there are \(counted) and \(countedBytes)"
      }
    }
  }

  /// The number of entries checked.
  public internal(set) var entries = 0
  /// The bytes of bodies read and checked.
  public internal(set) var bytes: Int64 = 0
  /// The findings, in the order of the checks.
  public internal(set) var findings: [Finding] = []
  /// Whether the findings were repaired: damaged entries and files without an entry deleted, usage counted again.
  public internal(set) var isRepaired = false

  init() {}

  /// Whether there are no findings.
  public var isSound: Bool { findings.isEmpty }

  /// All findings, one on each line.
  public var description: String {
    let head = "\(entries) entries, \(bytes) bytes of bodies checked, \(findings.count) findings"
    return ([head] + findings.map(\.description)).joined(separator: "\n")
  }
}
