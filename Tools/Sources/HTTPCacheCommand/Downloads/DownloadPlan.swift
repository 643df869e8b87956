import ArgumentParser
import Foundation
import HTTPCacheDownloads
import HTTPCaching

/// Makes the downloads of `get` from its URLs and its file of URLs.
struct DownloadPlan {
  private(set) var downloads: [Download] = []
  private let plan: RequestPlan
  private let segments: Int
  private let linksEntries: Bool
  private let ownCodings: Bool
  /// The paths of files so far.
  private var taken: [String: Set<String>] = [:]

  init(_ plan: RequestPlan, segments: Int?, linksEntries: Bool) {
    self.plan = plan
    self.segments = segments ?? 1
    self.linksEntries = linksEntries
    ownCodings = !plan.decodes && plan.acceptsEncoded
  }

  /// Adds a URL of the command line.
  ///
  /// - Parameters:
  ///   - output: the file of `-o`.
  ///   - usesRemoteName: whether the file is named after the URL.
  /// - Throws: `ValidationError`.
  mutating func add(
    _ address: String, output: String?, usesRemoteName: Bool, digests: [IntegrityDigest]
  ) throws {
    let url = try plan.target(TargetURL(parsing: address))
    var path = output.map { Self.absolute($0, in: ".") }
    if usesRemoteName { path = unique(FileName.safe(from: url.path), in: ".") }
    add(url, to: path, digests, segments)
  }

  /// Adds an entry of a file.
  ///
  /// - Throws: `ValidationError` for something else than a URL.
  mutating func add(_ entry: DownloadFile.Entry, path: String) throws {
    let url: TargetURL
    do { url = try plan.target(TargetURL(parsing: entry.url)) } catch let error as ValidationError {
      throw ValidationError("\(path), line \(entry.line): \(error.message)")
    }
    let folder = entry.folder ?? "."
    let file =
      entry.name.map { Self.absolute($0, in: folder) } ?? unique(FileName.safe(from: url.path), in: folder)
    // As aria2c does. If the folder cannot be made, the download fails and says so.
    try? FileManager.default.createDirectory(
      at: URL(fileURLWithPath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
    add(url, to: file, entry.digests, entry.segments ?? segments, entry.headers)
  }

  private mutating func add(
    _ url: TargetURL, to path: String?, _ digests: [IntegrityDigest], _ segments: Int,
    _ headers: [HeaderArgument] = []
  ) {
    var request = plan.request(for: url)
    // A body that was decoded could not be continued.
    if !ownCodings, request.headerFields[.acceptEncoding] != nil {
      request.headerFields[.acceptEncoding] = nil
    }
    request.headerFields.apply(headers)
    var download = Download(request: request, to: path, replacesExisting: true, digests: digests)
    download.segments = segments
    download.linksEntry = linksEntries
    downloads.append(download)
  }

  private mutating func unique(_ name: String, in folder: String) -> String {
    let name = FileName.unique(name, among: taken[folder] ?? [])
    taken[folder, default: []].insert(name)
    return Self.absolute(name, in: folder)
  }

  private static func absolute(_ path: String, in folder: String) -> String {
    let here = FileManager.default.currentDirectoryPath
    let base = folder.hasPrefix("/") ? folder : here + "/" + folder
    let full = path.hasPrefix("/") ? path : base + "/" + path
    // A path that ends in a slash names a folder, which the queue refuses.
    return URL(fileURLWithPath: full).standardizedFileURL.path + (path.hasSuffix("/") ? "/" : "")
  }
}
