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
  private let createsFolders: Bool
  private let ownCodings: Bool
  /// The URL of each file so far, by its absolute path.
  private var files: [String: String] = [:]
  /// The folders to make.
  private var folders: Set<URL> = []
  /// The files of entries that set or leave out `Authorization` themselves.
  private var filesWithOwnField: Set<String> = []

  /// Adds the user and password that the netrc file has for the host of a request, also for a mirror or a redirect; nil
  /// without such a file.
  var addFields: (@Sendable (inout HTTPRequest, Download) -> Void)? {
    guard plan.credentials.netrc != nil else { return nil }
    return { [credentials = plan.credentials, filesWithOwnField] request, download in
      if let file = download.destination, filesWithOwnField.contains(file) { return }
      credentials.add(to: &request)
    }
  }

  /// - Parameter createsFolders: whether the folder of a URL of the command line is made, as those of an input file.
  init(_ plan: RequestPlan, segments: Int?, linksEntries: Bool, createsFolders: Bool) {
    self.plan = plan
    self.createsFolders = createsFolders
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
    var path: String?
    if usesRemoteName {
      path = unique(for: url, in: ".")
    } else if let output {
      let file = try claimed(output, in: ".", for: url)
      if createsFolders { folders.insert(URL(fileURLWithPath: file).deletingLastPathComponent()) }
      path = file
    }
    add(url, to: path, digests: digests, segments: segments)
  }

  /// Adds an entry of a file.
  ///
  /// - Throws: `ValidationError` for something else than a URL, and for a folder or the file of another URL.
  mutating func add(_ entry: DownloadFile.Entry, path: String) throws {
    let url: TargetURL
    let folder = entry.folder ?? "."
    let file: String
    let mirrors: [String]
    do {
      url = try plan.target(TargetURL(parsing: entry.url))
      mirrors = try entry.mirrors.map { try plan.target(TargetURL(parsing: $0)).text }
      if let name = entry.name {
        file = try claimed(name, in: folder, for: url)
      } else {
        file = unique(for: url, in: folder)
      }
    } catch let error as ValidationError {
      throw ValidationError("\(path), line \(entry.line): \(error.message)")
    }
    folders.insert(URL(fileURLWithPath: file).deletingLastPathComponent())
    add(
      url, to: file, digests: entry.digests, segments: entry.segments ?? segments, headers: entry.headers)
    downloads[downloads.count - 1].mirrors = mirrors
    if entry.headers.contains(where: { $0.name == .authorization }) { filesWithOwnField.insert(file) }
  }

  /// Makes the folders that an input file names, as aria2c does, and with `--create-dirs` that of `-o`. The download into a folder that cannot be made fails
  /// and says so.
  func makeFolders() {
    for folder in folders {
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
  }

  private mutating func add(
    _ url: TargetURL, to path: String?, digests: [IntegrityDigest], segments: Int,
    headers: [HeaderArgument] = []
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

  /// The path of a file that is named after its URL.
  private mutating func unique(for url: TargetURL, in folder: String) -> String {
    let name = FileName.unique(FileName.safe(from: url.path)) {
      files[Self.absolute($0, in: folder)] != nil
    }
    let path = Self.absolute(name, in: folder)
    files[path] = url.text
    return path
  }

  /// The path of a file that the user named.
  ///
  /// - Throws: `ValidationError` if it names a folder, or the file of another URL.
  private mutating func claimed(_ name: String, in folder: String, for url: TargetURL) throws -> String {
    let path = Self.absolute(name, in: folder)
    guard !path.hasSuffix("/") else { throw ValidationError("'\(name)' is a folder, not a file") }
    guard files[path].map({ $0 == url.text }) ?? true else {
      throw ValidationError("the file \(path) is that of another URL before")
    }
    files[path] = url.text
    return path
  }

  private static func absolute(_ path: String, in folder: String) -> String {
    let here = FileManager.default.currentDirectoryPath
    let base = folder.hasPrefix("/") ? folder : here + "/" + folder
    let full = path.hasPrefix("/") ? path : base + "/" + path
    // A path that ends in a slash names a folder, which the queue refuses.
    return URL(fileURLWithPath: full).standardizedFileURL.path + (path.hasSuffix("/") ? "/" : "")
  }
}
