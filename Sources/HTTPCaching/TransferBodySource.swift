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

  var trailers: HTTPFields { transfer.trailers }

  func cancel() { transfer.leave(reader) }
}
