import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Functions for the readers of the body, each at its own pace.
extension Transfer {
  func next(_ reader: Int) async throws -> BodyBytes? {
    while true {
      let (action, fetch) = state.withLock { state in
        let action = state.progress.read(reader)
        return (action, Self.releaseFetch(&state))
      }
      fetch?.give(())
      switch action {
      case .take(let bytes): return bytes
      case .readStored(let range):
        let bytes = try await storedReader().read(range)
        guard !bytes.isEmpty else {
          throw CacheError(.damaged, "the growing body has no byte \(range.lowerBound)")
        }
        let fetch = state.withLock { state in
          state.progress.advance(reader, by: bytes.count)
          return Self.releaseFetch(&state)
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
    if let open = state.withLock({ $0.storedReader }) { return open }
    let opened = try writer.reader()
    return state.withLock { state in
      if let other = state.storedReader { return other }
      state.storedReader = opened
      return opened
    }
  }

  /// Opens the stored bytes while the writer still exists, if a reader needs them now.
  ///
  /// - Parameter always: also open them if no reader needs them yet.
  func keepStoredBytesReadable(always: Bool = false) {
    guard always || state.withLock({ $0.progress.isAnyoneBehind }) else { return }
    do throws(CacheError) { _ = try storedReader() } catch {
      // A reader that needs the bytes gets the error when it reads.
    }
  }

  /// Gives up the writer and its bytes. Readers continue with the reader of the stored bytes if it is open,
  /// or with the bytes that are kept from then on.
  func stopWriting() {
    keepStoredBytesReadable()
    state.withLock { state in
      state.progress.storeFailed(isReadable: state.storedReader != nil)
    }
    writer.abandon()
  }

  /// Waits until a reader has bytes to read; false if the transfer breaks off before, or the reader has left.
  ///
  /// - Parameter limit: returns true once this limit has passed.
  func begins(_ reader: Int, within limit: Duration?) async throws -> Bool {
    try await wait(reader, within: limit)
    return state.withLock { $0.progress.isReadable(reader) }
  }

  var trailers: HTTPFields {
    state.withLock { state in
      if case .finished(let trailers) = state.progress.phase { trailers } else { [:] }
    }
  }

  /// Removes a reader. If it was the last one and much is left to fetch, the fetch stops.
  func leave(_ reader: Int) {
    let (waiting, fetch, abandoned) = state.withLock { state in
      state.progress.removeReader(reader)
      let stops =
        state.progress.isRunning && !state.progress.hasReaders && !state.progress.isWorthFinishing
      if stops { state.progress.abandon() }
      return (
        state.readers.removeValue(forKey: reader), Self.releaseFetch(&state),
        stops ? state.task : nil
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
    let ready = state.withLock { state in
      state.readers[reader] = state.progress.mustWait(reader) ? OneShot() : nil
      return state.readers[reader]
    }
    await ready?.take(within: limit, clock, otherwise: ())
    try Task.checkCancellation()
  }
}
