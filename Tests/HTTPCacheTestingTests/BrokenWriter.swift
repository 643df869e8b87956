import HTTPCacheStore
import HTTPTypes

/// The writer of a store with a fault.
final class BrokenWriter: BodyWriter {
  private let base: any BodyWriter
  private let fault: BrokenStore.Fault

  init(_ base: any BodyWriter, fault: BrokenStore.Fault) {
    self.base = base
    self.fault = fault
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try await base.append(fault == .losesLastByte ? bytes.prefix(bytes.count - 1) : bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try await base.commit(trailers: fault == .losesTrailers ? [:] : trailers)
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    if fault == .keepsNothing { return nil }
    return try await base.keep()
  }

  func abandon() { if fault != .commitsWhatIsAbandoned { base.abandon() } }
  func reader() throws(CacheError) -> any BodyReader {
    BrokenReader(try base.reader(), fault: fault, file: nil)
  }
}
