/// What `DiskStore.verify(repair:)` found.
public struct VerificationReport: Sendable, CustomStringConvertible {
  /// One thing that is not as it should be.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Finding: Sendable, Hashable, CustomStringConvertible {
    /// SQLite finds its own structures damaged.
    case index(String)
    /// A record cannot be decoded.
    case record(id: Int64, String)
    /// The file of a body is gone.
    case bodyMissing(target: String, path: String)
    /// A body is not what was written.
    case body(target: String, String)
    /// A file that no entry knows of, below `bodies`.
    case orphan(path: String)
    /// Rows that belong to no entry.
    case danglingRows(table: String, count: Int64)
    /// The usage row differs from what it counts.
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

  /// Entries looked at.
  public internal(set) var entries = 0
  /// Body bytes read and checked.
  public internal(set) var bytes: Int64 = 0
  /// What was found, in the order of looking.
  public internal(set) var findings: [Finding] = []
  /// Whether what was found was repaired: damaged entries and orphans deleted, usage counted anew.
  public internal(set) var isRepaired = false

  init() {}

  /// Whether all is as it should be.
  public var isSound: Bool { findings.isEmpty }

  /// All findings, a line each.
  public var description: String {
    let head = "\(entries) entries, \(bytes) bytes of bodies checked, \(findings.count) findings"
    return ([head] + findings.map(\.description)).joined(separator: "\n")
  }
}
