import Synchronization

/// The record of the part file during an attempt. While there is one, the file stays after a failure.
final class KeptPart: Sendable {
  private let state: Mutex<PartRecord?>

  init(_ record: PartRecord?) { state = Mutex(record) }

  var record: PartRecord? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
