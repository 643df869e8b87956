/// The name of a body's file: who wrote it and a running number. Nothing of a URL or of a field gets
/// into it, and nothing but this form is accepted from an index.
struct BodyName: Hashable, Sendable {
  /// The writer, a random number of an open store.
  let owner: UInt64
  /// Counts the bodies of that writer.
  let number: UInt64

  init(owner: UInt64, number: UInt64) {
    self.owner = owner
    self.number = number
  }

  /// Parses `path`, such as `0a/00c0ffee00c0ffee-1f3`.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let name = BodyName(fileName: String(parts[1])), name.path == path else {
      return nil
    }
    self = name
  }

  /// Parses the last component of a path.
  init?(fileName: String) {
    let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16, parts[1].utf8.count <= 16,
      let owner = UInt64(parts[0], radix: 16), let number = UInt64(parts[1], radix: 16)
    else { return nil }
    self.init(owner: owner, number: number)
    guard self.fileName == fileName else { return nil }
  }

  /// The folder: as few as possible are made, and each takes 256 bodies before the next one.
  var shard: String { Self.shardName(Int(number >> 8 & 0xFF)) }

  var fileName: String { Self.ownerText(owner) + "-" + String(number, radix: 16) }

  /// Below `bodies`.
  var path: String { shard + "/" + fileName }

  /// Below `bodies`, while it is being written.
  var temporaryFileName: String { fileName + Self.temporarySuffix }

  static let temporarySuffix = ".part"

  static func shardName(_ index: Int) -> String {
    let text = String(index, radix: 16)
    return text.utf8.count == 1 ? "0" + text : text
  }

  static func ownerText(_ owner: UInt64) -> String {
    let text = String(owner, radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }
}
