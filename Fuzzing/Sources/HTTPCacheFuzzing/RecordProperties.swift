import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The properties of every encoded record, from a disk that may be damaged or hostile.
enum RecordProperties {
  /// Reads the octets as a record, and as a record without its checksum.
  static func check(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    _ = try decoded(octets)
    var bytes = Array(octets)
    withUnsafeBytes(of: XXH64.hash(octets).littleEndian) { bytes.append(contentsOf: $0) }
    let record: CacheRecord?
    do { record = try bytes.withUnsafeBytes { try decoded($0) } } catch let error as PropertyViolation {
      throw error
    } catch { throw PropertyViolation(description: "\(error)") }
    guard let record else { return }
    var exchange = HostileExchange()
    exchange.rules.mode = record.key.mode
    try ExchangeProperties.checkStored(record.response, exchange)
    _ = RecordCodec.variant(of: record)
  }

  /// A record that the rules made is read back unchanged.
  static func checkRoundTrip(_ response: StoredResponse, of key: CacheKey) throws(PropertyViolation) {
    let record = CacheRecord(
      key: key, response: response, bodyLength: 5, storedRanges: [0..<2, 3..<5], groups: ["a"],
      userInfo: [1, 2], isPinned: true)
    guard let bytes = try? RecordCodec.encode(record) else { return }
    do {
      let read = try RecordCodec.decode(bytes)
      try require(
        read.key == key && read.response == response && read.storedRanges == record.storedRanges
          && read.groups == record.groups && read.userInfo == record.userInfo && read.isPinned,
        "a record is read back as another one")
    } catch let error as PropertyViolation {
      throw error
    } catch {
      throw PropertyViolation(description: "a record is not read back: \(error)")
    }
  }

  private static func decoded(_ bytes: UnsafeRawBufferPointer) throws(PropertyViolation) -> CacheRecord? {
    guard let record = try? RecordCodec.decode(bytes) else { return nil }
    guard let encoded = try? RecordCodec.encode(record) else {
      throw PropertyViolation(description: "a record that was decoded cannot be encoded")
    }
    try require(encoded.elementsEqual(bytes), "a record is encoded differently from what was decoded")
    return record
  }
}
