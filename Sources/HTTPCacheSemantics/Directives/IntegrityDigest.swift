public import HTTPTypes
import RawStructuredFieldValues

/// A digest that a message states of its content or representation (RFC 9530), or a caller expects of a file.
public struct IntegrityDigest: Sendable, Hashable {
  /// The algorithms that are verified (RFC 9530 §5). Of the fields of a message all others are ignored, including the
  /// insecure ones (`md5`, `sha`, `unixsum`, `unixcksum`, `adler`, `crc32c`).
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// SHA-256.
    case sha256 = "sha-256"
    /// SHA-512.
    case sha512 = "sha-512"
    /// SHA-1, insecure: for files that a caller has no other digest of.
    case sha1 = "sha"
    /// MD5, insecure: for files that a caller has no other digest of.
    case md5 = "md5"

    /// Whether the digests of messages are verified.
    var isSecure: Bool {
      switch self {
      case .sha256, .sha512: true
      case .sha1, .md5: false
      }
    }

    /// The length of a digest in bytes.
    public var length: Int {
      switch self {
      case .sha256: 32
      case .sha512: 64
      case .sha1: 20
      case .md5: 16
      }
    }
  }

  /// The bytes that a digest is computed of.
  public enum Subject: Sendable, Hashable, CaseIterable {
    /// The content of the message: `Content-Digest` (§2).
    case content
    /// The whole representation: `Repr-Digest` (§3).
    case representation
  }

  /// The longest field that is read, in octets.
  private static let lengthLimit = 8_192

  /// The algorithm.
  public let algorithm: Algorithm
  /// The digest. A digest of a wrong length matches nothing.
  public let value: [UInt8]

  /// Makes a digest.
  public init(algorithm: Algorithm, value: [UInt8]) {
    self.algorithm = algorithm
    self.value = value
  }

  /// The digests that the fields state and this cache can verify.
  ///
  /// - Returns: an empty list for a field that is not a dictionary, or is too long. Members that are not byte
  ///   sequences are ignored.
  public static func list(of subject: Subject, in fields: HTTPFields) -> [IntegrityDigest] {
    let name = subject == .content ? FieldNames.contentDigest : FieldNames.reprDigest
    guard fields.firstIndex(of: name) != nil else { return [] }
    let octets = fields.combinedOctets(name)
    guard octets.count <= lengthLimit else { return [] }
    var parser = StructuredFieldValueParser(octets)
    guard let members = try? parser.parseDictionaryFieldValue() else { return [] }
    return Algorithm.allCases.filter(\.isSecure).compactMap { algorithm in
      guard case .item(let item)? = members[algorithm.rawValue],
        case .undecodedByteSequence(let text) = item.rfc9651BareItem, let value = decoded(text)
      else { return nil }
      return IntegrityDigest(algorithm: algorithm, value: value)
    }
  }

  /// Decodes base64 with or without padding (RFC 9651 §4.2.7); nil for anything else.
  private static func decoded(_ text: String) -> [UInt8]? {
    var octets = Substring(text).utf8
    while octets.last == UInt8(ascii: "=") { octets.removeLast() }
    return Base64.standard.decode(octets, allowsRest: true)
  }
}
