import ArgumentParser
import Foundation
import HTTPCaching

/// The option for the encryption key of the directory.
struct EncryptionKeyOption: ParsableArguments {
  /// The environment variable that names the key file if the option is missing.
  static let variable = "HTTPCACHE_ENCRYPTION_KEY_FILE"

  @Option(
    name: .customLong("encryption-key-file"),
    help: ArgumentHelp(
      "Encrypt entries with the key in this file: 32 bytes, 64 hex digits, or base64. "
        + "Other users must not have read access. Default: $\(variable).", valueName: "path"))
  var path: String?

  /// The encryption of the cache; nil if no key is given.
  ///
  /// - Parameter locating: adds to a message where the path is given.
  /// - Throws: `ExitCode` after a message on standard error.
  func encryption(locating: (String) -> String = { $0 }) throws -> CacheEncryption? {
    let path = path ?? ProcessInfo.processInfo.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    guard let path else { return nil }
    do {
      return .key(try Self.readKey(path))
    } catch let error as CacheError {
      Console.report("httpcache: " + locating("\(path): \(error.message)"))
      throw ExitStatus.usage.code
    } catch {
      // A folder, for example.
      Console.report("httpcache: " + locating("\(path): cannot be read"))
      throw ExitStatus.usage.code
    }
  }

  /// Reads a key.
  ///
  /// - Throws: `CacheError.invalidKey` if the file cannot be read, other users can read it too, or it holds
  ///   no key.
  static func readKey(_ path: String) throws -> EncryptionKey { try EncryptionKey(try readBytes(path)) }

  /// Reads the 32 bytes of a key, or of another secret.
  ///
  /// - Throws: `CacheError.invalidKey` as `readKey`.
  static func readBytes(_ path: String) throws -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw CacheError(.invalidKey, "cannot be read")
    }
    defer { try? file.close() }
    var status = stat()
    guard fstat(file.fileDescriptor, &status) == 0 else {
      throw CacheError(.invalidKey, "cannot be read")
    }
    if SecretFile.isOpenToOthers(path, status) {
      throw CacheError(
        .invalidKey,
        "other users can read this key, so it is not used; run `chmod 600` on it (its mode is \(String(status.st_mode & 0o777, radix: 8)))"
      )
    }
    return try bytes(in: try file.read(upToCount: 1_024) ?? Data())
  }

  /// The key in some bytes: 32 raw bytes, or their text in hex or base64.
  private static func bytes(in data: Data) throws -> [UInt8] {
    if data.count == 32 { return Array(data) }
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    if text.utf8.count == 64, let bytes = hexadecimal(text) { return bytes }
    var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while base64.utf8.count % 4 != 0 { base64 += "=" }
    if let bytes = Data(base64Encoded: base64), bytes.count == 32 { return Array(bytes) }
    throw CacheError(
      .invalidKey, "holds neither 32 bytes, nor 64 hex digits, nor 32 bytes as base64")
  }

  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
