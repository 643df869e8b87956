/// Something that an answer, or what is left at the end, must not be.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
  /// The rule that is broken.
  package enum Kind: String, Sendable, CaseIterable {
    /// An answer is older than an unsafe request through the same process that had ended before (RFC 9111
    /// §4.4).
    case staleAfterUnsafe = "stale-after-unsafe"
    /// An answer is older than an unsafe request through another process that had ended before.
    case staleAfterUnsafeElsewhere = "stale-after-unsafe-elsewhere"
    /// An answer is older than a purge by the same process that had ended before.
    case staleAfterPurge = "stale-after-purge"
    /// An answer is older than a purge by another process that had ended before.
    case staleAfterPurgeElsewhere = "stale-after-purge-elsewhere"
    /// An answer is older than a group invalidation that had ended before (RFC 9875 §3).
    case staleAfterGroup = "stale-after-group"
    /// An answer is older than a `Clear-Site-Data` that had ended before.
    case staleAfterClearSite = "stale-after-clear-site"
    /// A fresh hit is older than its lifetime (RFC 9111 §4.2).
    case staleAsFresh = "stale-as-fresh"
    /// An answer is older than its age tells (RFC 9111 §4.2.3).
    case tooYoung = "too-young"
    /// The body is of a representation that the request does not select (RFC 9111 §4.1, §4.3.4).
    case wrongVariant = "wrong-variant"
    /// The body is of another target, or the origin has never sent it.
    case wrongBody = "wrong-body"
    /// A body that ended without an error lacks bytes or has other bytes (RFC 9111 §3.3, §3.4).
    case brokenBody = "broken-body"
    /// The head describes another representation than the body is.
    case wrongHead = "wrong-head"
    /// A response that must not be stored answered another request (RFC 9111 §3).
    case leaked
    /// A response that must not be stored, or that the hook refused, is stored (RFC 9111 §3).
    case storedRefused = "stored-refused"
    /// A caller waits for a head although its timeout has passed.
    case late
    /// A caller that was cancelled still waits for a head.
    case cancelledWaits = "cancelled-waits"
    /// A caller got an error though nothing but other callers gave up.
    case needlessError = "needless-error"
    /// Nothing can go on, and a caller still waits.
    case stuck
    /// The simulation does not come to an end.
    case endless
    /// A flight, waiter, transfer or background task is left at the end.
    case leftover
    /// Usage is not the sum of the entries.
    case uncounted
    /// Another thread ran a task of the cache, so that the seed does not determine the order.
    case foreignThread = "foreign-thread"
  }

  package let kind: Kind
  /// The circumstances, in a few words that equal those of other violations of this sort.
  package let circumstances: String
  /// A description, with the client and the versions.
  package let message: String

  package var description: String { "\(kind.rawValue) (\(circumstances)): \(message)" }
}
