import HTTPCacheFiles
import HTTPCacheStore

/// Makes seeds of a WACZ file (WACZ 1.1.1): a ZIP file with WARC files in its folder `archive`. Indexes and lists of pages
/// in it are not needed.
enum WACZImport {
  /// Adds the responses of all WARC files.
  ///
  /// - Throws: `CacheError.damaged` if the file is no ZIP file or has no WARC file, `CacheError.tooLarge` if it unpacks to too much,
  ///   `CacheError.io`, `CacheError.noSpace`.
  static func run(_ file: CacheFile, name: String, into output: inout RecordingOutput) throws(CacheError) {
    let members = try ZIPDirectory(file, name).members.filter { isRecording($0.name) }
    guard !members.isEmpty else {
      throw CacheError(
        .damaged, "\(name) is a ZIP file without a WARC file in a folder 'archive', as WACZ has it")
    }
    var limit = UnpackedLimit(length: try file.length())
    var known = KnownRecords()
    for member in members {
      do throws(CacheError) {
        let copy = try unpacked(member, of: file, name, &limit)
        try WARCImport.run(
          copy, name: "\(member.name) in \(name)", part: "\(member.name), ", with: &known, into: &output)
      } catch {
        guard error.code == .damaged else { throw error }
        output.note("\(member.name): \(error.message)")
      }
    }
    try known.end(&output)
  }

  private static func isRecording(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasPrefix("archive/")
      && [".warc", ".warc.gz", ".arc", ".arc.gz"].contains { name.hasSuffix($0) }
  }

  /// A copy of a member without the compression of the ZIP file.
  private static func unpacked(
    _ member: ZIPDirectory.Member, of file: CacheFile, _ name: String, _ limit: inout UnpackedLimit
  ) throws(CacheError) -> CacheFile {
    let start = try member.start(in: file)
    let format: DeflateDecoder.Format?
    switch member.method {
    case 0: format = nil
    case 8: format = .raw
    default: throw CacheError(.damaged, "the compression method \(member.method) of ZIP is not known here")
    }
    return try UnpackedCopy.make(
      start..<start + member.length, of: file, format, name: name, limit: &limit)
  }
}
