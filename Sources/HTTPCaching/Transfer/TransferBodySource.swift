import HTTPCacheStore
import HTTPTypes

/// One caller's view of a transfer.
final class TransferBodySource: BodySource {
  private let transfer: Transfer
  private let reader: Int
  let length: Int64?

  init(transfer: Transfer, reader: Int, length: Int64?) {
    self.transfer = transfer
    self.reader = reader
    self.length = length
  }

  deinit { transfer.leave(reader) }

  func next() async throws -> BodyBytes? {
    try await transfer.next(reader)
  }

  /// Waits until there are bytes to read; false if the transfer breaks off before.
  ///
  /// - Parameter limit: how long to wait; nil for no limit. After that this returns true.
  /// - Throws: `CancellationError` when the caller is cancelled.
  func begins(within limit: Duration?) async throws -> Bool {
    try await transfer.begins(reader, within: limit)
  }

  var trailers: HTTPFields { transfer.trailers }

  func cancel() { transfer.leave(reader) }
}
