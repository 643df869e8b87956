import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Functions for the readers of the body, each at its own pace.
extension Transfer {
  func next(_ reader: Int) async throws -> BodyBytes? {
    while true {
      let (action, fetch) = shared.withLock { shared in
        let action = shared.state.read(reader)
        return (action, Self.releaseFetch(&shared))
      }
      fetch?.give(())
      switch action {
      case .take(let bytes): return bytes
      case .readStored(let range):
        let bytes = try await storedReader().read(range)
        guard !bytes.isEmpty else {
          throw CacheError(.damaged, "the growing body has no byte \(range.lowerBound)")
        }
        let fetch = shared.withLock { shared in
          shared.state.advance(reader, by: bytes.count)
          return Self.releaseFetch(&shared)
        }
        fetch?.give(())
        return bytes
      case .end: return nil
      case .fail(let error): throw error
      case .wait: try await wait(reader)
      }
    }
  }

  /// The reader of the growing body, shared by all readers; it outlives commit and failure.
  func storedReader() throws(CacheError) -> any BodyReader {
    if let open = shared.withLock({ $0.storedReader }) { return open }
    let opened = try writer.reader()
    return shared.withLock { shared in
      if let other = shared.storedReader { return other }
      shared.storedReader = opened
      return opened
    }
  }

  /// Opens the stored bytes while the writer still exists, if a reader needs them now.
  ///
  /// - Parameter always: also open them if no reader needs them yet.
  func keepStoredBytesReadable(always: Bool = false) {
    guard always || shared.withLock({ $0.state.isAnyoneBehind }) else { return }
    do throws(CacheError) { _ = try storedReader() } catch {
      // A reader that needs the bytes gets the error when it reads.
    }
  }

  /// Gives up the writer and its bytes. Readers continue with the reader of the stored bytes if it is open,
  /// or with the bytes that are kept from then on.
  func stopWriting() {
    keepStoredBytesReadable()
    shared.withLock { shared in
      shared.state.storeFailed(isReadable: shared.storedReader != nil)
    }
    writer.abandon()
  }

  /// Waits until a reader has bytes to read; false if the transfer breaks off before, or the reader has left.
  ///
  /// - Parameter limit: returns true once this limit has passed.
  func begins(_ reader: Int, within limit: Duration?) async throws -> Bool {
    try await wait(reader, within: limit)
    return shared.withLock { $0.state.isReadable(reader) }
  }

  var trailers: HTTPFields {
    shared.withLock { shared in
      if case .finished(let trailers) = shared.state.phase { trailers } else { [:] }
    }
  }

  /// Removes a reader. If it was the last one and much is left to fetch, the fetch stops.
  func leave(_ reader: Int) {
    let (waiting, fetch, abandoned) = shared.withLock { shared in
      shared.state.removeReader(reader)
      let stops =
        shared.state.isRunning && !shared.state.hasReaders && !shared.state.isWorthFinishing
      if stops { shared.state.abandon() }
      return (
        shared.readers.removeValue(forKey: reader), Self.releaseFetch(&shared),
        stops ? shared.task : nil
      )
    }
    waiting?.give(())
    if let abandoned {
      abandoned.cancel()
      body.source.cancel()
    }
    fetch?.give(())
  }

  private func wait(_ reader: Int, within limit: Duration? = nil) async throws {
    let ready = shared.withLock { shared in
      shared.readers[reader] = shared.state.mustWait(reader) ? OneShot() : nil
      return shared.readers[reader]
    }
    await ready?.take(within: limit, clock, otherwise: ())
    try Task.checkCancellation()
  }
}
