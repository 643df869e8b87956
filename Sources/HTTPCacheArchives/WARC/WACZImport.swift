import HTTPCacheFiles
import HTTPCacheStore

/// Makes seeds of a WACZ file (WACZ 1.1.1): a ZIP file with WARC files in its folder `archive`. Indexes and lists of pages
/// in it are not needed.
enum WACZImport {
  /// Adds the responses of all WARC files. One that cannot be read is left out with a note.
  ///
  /// - Throws: `CacheError.damaged` if the file is no ZIP file, or has no WARC file that can be read, `CacheError.tooLarge` if it
  ///   unpacks to too much, `CacheError.io`, `CacheError.noSpace`.
  static func run(_ file: CacheFile, name: String, into output: inout RecordingOutput) throws(CacheError) {
    let members = try ZIPDirectory(file, name).members.filter { isRecording($0.name) }
    guard !members.isEmpty else {
      throw CacheError(
        .damaged, "\(name) is a ZIP file without a WARC file in a folder 'archive', as WACZ has it")
    }
    var limit = UnpackedLimit(length: try file.length())
    var known = KnownRecords()
    var problem: String?
    var hasRead = false
    for member in members {
      do throws(CacheError) {
        let copy = try unpacked(member, of: file, name, &limit)
        try WARCImport.run(copy, name: "the file", part: "\(member.name), ", with: &known, into: &output)
        hasRead = true
      } catch {
        guard error.code == .damaged else { throw error }
        let note = "\(member.name): \(error.message)"
        output.note(note)
        problem = problem ?? note
      }
    }
    if let problem, !hasRead {
      throw CacheError(.damaged, "\(name) has no WARC file that can be read: \(problem)")
    }
    try known.end(&output)
  }

  private static func isRecording(_ name: String) -> Bool {
    let name = name.lowercased()
    guard name.hasPrefix("archive/") else { return false }
    return [".warc", ".arc"].contains { kind in
      ["", ".gz", ".zst", ".xz", ".bz2"].contains { name.hasSuffix(kind + $0) }
    }
  }

  /// A copy of a member without the compression of the ZIP file.
  private static func unpacked(
    _ member: ZIPDirectory.Member, of file: CacheFile, _ name: String, _ limit: inout UnpackedLimit
  ) throws(CacheError) -> CacheFile {
    if member.isEncrypted { throw notRead(.encrypted) }
    let start = try member.start(in: file)
    let format: DeflateDecoder.Format?
    switch member.method {
    case 0:
      format = nil
      // Before the copy, which may be long.
      try check(file, start..<start + member.length)
    case 8: format = .raw
    default: throw notRead(.zipMethod(member.method))
    }
    let copy = try UnpackedCopy.make(
      start..<start + member.length, of: file, format, name: name, limit: &limit)
    if format != nil { try check(copy, 0..<copy.length()) }
    return copy
  }

  /// Looks whether a WARC file in a part of a file is in a form that is known and not read, whatever its name ends in.
  private static func check(_ file: CacheFile, _ range: Range<Int64>) throws(CacheError) {
    let start = try file.read(Int(min(64, Int64(range.count))), at: range.lowerBound).array
    if let form = UnreadForm(start: start) { throw notRead(form) }
  }

  private static func notRead(_ form: UnreadForm) -> CacheError { CacheError(.damaged, "\(form)") }
}
