import ArgumentParser
import Foundation
import HTTPCacheImages
import HTTPCaching

/// `httpcache image`: fetches images through the cache, and writes them in another size or format.
struct ImageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "image",
    abstract: "Fetch images through the cache; resize and convert them.",
    discussion: """
      Reads JPEG, PNG, WebP, GIF, AVIF and HEIC, of animations the first picture, and turns photographs upright. A single URL is written to the file -o; \
      several are written into the folder -o, under their names and with the extension of the format. \
      Standard error gets one line per URL.

      Exit status:
      \(ExitStatus.help([
        .success: "all images were written",
        .failure: "an answer is no image, or cannot be decoded",
        .httpError: "the answer's status is not 200", .unreachable: nil, .timeout: nil, .tls: nil,
        .brokenProtocol: nil, .notStored: nil, .output: nil, .newerFormat: nil, .cacheUnavailable: nil, .usage: nil,
        .interrupted: nil,
      ]))
      """)

  @Argument(help: ArgumentHelp("http or https URLs of images.", valueName: "urls"))
  var addresses: [URLArgument]

  @Option(
    help: "Width and height in pixels, such as 640x480. Smaller images are enlarged only with --enlarge.",
    transform: ImageGeometry.parsed)
  var resize: ImageGeometry?

  @Option(help: "With --resize: fit into the size, fill and crop it, or stretch to it.")
  var mode: ResizeProcessor.Mode = .fit

  @Flag(help: "With --resize: also enlarge smaller images.")
  var enlarge = false

  @Option(
    name: .customLong("round"), parsing: .unconditional, help: "Radius in pixels of round corners.")
  var radius: Int?

  @Option(help: "Format to write; default: the extension of -o, else jpg.")
  var format: ImageFormat?

  @Option(parsing: .unconditional, help: "Quality of JPEG and WebP, from 1 to 100.")
  var quality: Int?

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: "The file to write; the folder, which must exist, for several URLs.")
  var output: String

  @Option(help: "How to use the cache.")
  var policy: PolicyArgument = .standard

  @OptionGroup(title: "Connection Options") var connection: ConnectionOptionGroup

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if enlarge, resize == nil { throw ValidationError("--enlarge requires --resize") }
    if let radius, radius < 1 { throw ValidationError("--round must be at least 1 (got \(radius))") }
    if let quality, !(1...100).contains(quality) {
      throw ValidationError("--quality must be from 1 to 100 (got \(quality))")
    }
    if addresses.isEmpty { throw ValidationError("a URL is missing") }
  }

  func run() async throws {
    try await Interruption.cancelling { try await writeAll() }
  }

  private func writeAll() async throws {
    let (urls, clientOptions) = try ExitStatus.reportingUsage {
      (try addresses.map { try TargetURL(parsing: $0.text) }, try connection.clientOptions())
    }
    let files = try destinations(of: urls)
    let cache = try location.openCache()
    let status: ExitStatus
    do {
      status = try await OriginClient.withUpstream(clientOptions) { upstream in
        let images = ImageCache(cache: cache, upstream: upstream)
        let status = await writeAll(urls, to: files, with: images)
        await cache.finishBackgroundWork(within: .seconds(10))
        return status
      }
    } catch {
      Console.report("httpcache: \(error)")
      throw ExitStatus.failure.code
    }
    await cache.flush()
    guard status == .success else { throw status.code }
  }

  /// Writes all images. The exit status is that of the first URL that failed.
  private func writeAll(_ urls: [TargetURL], to files: [String], with images: ImageCache) async -> ExitStatus
  {
    await withTaskGroup(of: (Int, ExitStatus).self) { group in
      for (index, url) in urls.enumerated() {
        group.addTask { (index, await write(url, to: files[index], with: images)) }
      }
      var statuses = [ExitStatus](repeating: .success, count: urls.count)
      for await (index, status) in group { statuses[index] = status }
      return statuses.first { $0 != .success } ?? .success
    }
  }

  private func write(_ url: TargetURL, to file: String, with images: ImageCache) async -> ExitStatus {
    var processors: [any ImageProcessor] = []
    if let resize {
      processors.append(
        ResizeProcessor(
          width: resize.size.width, height: resize.size.height, mode: mode, enlarges: enlarge))
    }
    if let radius { processors.append(RoundedCornersProcessor(radius: radius)) }
    var fields = HTTPFields()
    if let credentials = url.credentials { fields[.authorization] = credentials.basic }
    let request = ImageRequest(
      request: url.request(.get, fields), processors: processors, policy: connection.usedPolicy(policy))
    do {
      let image = try await images.image(for: request)
      let bytes = try usedFormat(of: file).encoder(quality: quality).encode(image)
      let place = try Output(.file(file))
      try await place.begin(nil)
      try await place.write(bytes)
      try place.finish()
      Console.report(
        "\(url.text): \(image.width) x \(image.height) to \(file), \(HumanText.bytes(Int64(bytes.count)))")
      return .success
    } catch {
      let status = Self.status(of: error)
      Console.report("httpcache: \(url.text): \(status == .interrupted ? "interrupted" : "\(error)")")
      return status
    }
  }

  private static func status(of error: any Error) -> ExitStatus {
    switch error {
    case ImageError.status: .httpError
    case let error as UpstreamError: ExitStatus(error.kind)
    case let error as CacheError: ExitStatus(error.code)
    case is CancellationError, ImageError.cancelled: .interrupted
    case ImageError.notStored: .notStored
    case is OutputFailure: .output
    default: .failure
    }
  }

  private func usedFormat(of file: String) -> ImageFormat { format ?? ImageFormat(file: file) ?? .jpg }

  /// The files of the images, in the order of the URLs.
  private func destinations(of urls: [TargetURL]) throws -> [String] {
    guard urls.count > 1 else {
      guard format == nil, let suffix = ImageFormat.suffix(of: output), ImageFormat(file: output) == nil
      else {
        do throws(OutputFailure) {
          try OutputPlace.requireFile(at: output, isReplaced: false)
        } catch {
          throw error.reported()
        }
        return [output]
      }
      Console.report("httpcache: \(output): images cannot be written as \(suffix); --format names a format")
      throw ExitStatus.usage.code
    }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: output, isDirectory: &isFolder), isFolder.boolValue else {
      Console.report("httpcache: -o must name a folder that exists for \(urls.count) URLs (got \(output))")
      throw ExitStatus.usage.code
    }
    var taken: Set<String> = []
    return urls.map { url in
      let given = FileName.safe(from: url.path)
      let stem = given.lastIndex(of: ".").map { String(given[..<$0]) } ?? given
      let name = FileName.unique("\(stem).\((format ?? .jpg).rawValue)", isTaken: taken.contains)
      taken.insert(name)
      return "\(output)/\(name)"
    }
  }
}
