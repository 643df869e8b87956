import CSQLite
import HTTPCacheStore

/// The parameters of a statement that is about to run. A value that is bound without a copy must live until
/// the statement has run.
struct SQLiteBinding {
  let statement: OpaquePointer
  private(set) var result = SQLITE_OK
  /// Whether there are large parameters, which the statement must release after the run.
  private(set) var isLarge = false

  init(statement: OpaquePointer) { self.statement = statement }

  private mutating func note(_ code: Int32) { if result == SQLITE_OK { result = code } }

  mutating func null(_ index: Int32) { note(sqlite3_bind_null(statement, index)) }

  mutating func integer(_ value: Int64, _ index: Int32) {
    note(sqlite3_bind_int64(statement, index, value))
  }

  /// Binds the bits of a hash. SQLite has signed integers only.
  mutating func hash(_ value: UInt64, _ index: Int32) { integer(Int64(bitPattern: value), index) }

  mutating func real(_ value: Double, _ index: Int32) {
    note(sqlite3_bind_double(statement, index, value))
  }

  mutating func text(_ value: String, _ index: Int32) {
    var value = value
    note(
      value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          sqlite3_bind_text64(
            statement, index, characters.baseAddress, UInt64(characters.count), Self.copied,
            UInt8(SQLITE_UTF8))
        }
      })
  }

  mutating func blob(_ bytes: [UInt8], _ index: Int32) {
    bytes.withUnsafeBytes { blob($0, index, Self.copied) }
  }

  /// Binds bytes without copying them.
  mutating func blob(sharing bytes: BodyBytes, _ index: Int32) {
    bytes.withUnsafeBytes { blob($0, index, nil) }
  }

  private mutating func blob(
    _ bytes: UnsafeRawBufferPointer, _ index: Int32, _ destructor: sqlite3_destructor_type?
  ) {
    isLarge = true
    note(
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(statement, index, 0)
        : sqlite3_bind_blob64(
          statement, index, bytes.baseAddress, UInt64(bytes.count), destructor))
  }

  mutating func value(_ value: SQLiteValue, _ index: Int32) {
    switch value {
    case .null: null(index)
    case .integer(let number): integer(number, index)
    case .real(let number): real(number, index)
    case .text(let text): self.text(text, index)
    case .blob(let bytes): blob(bytes, index)
    }
  }

  // SQLITE_TRANSIENT: Swift cannot import the C macro, because it contains a cast.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
