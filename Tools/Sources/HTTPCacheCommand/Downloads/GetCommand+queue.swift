import ArgumentParser
import Foundation
import HTTPCacheDownloads
import HTTPCaching
import HTTPTypes

extension GetCommand {
  /// Checks the options that a queue cannot fulfil.
  func validateQueue() throws {
    guard queueOptions.isUsed else {
      if include, let file = addresses.first(where: { Self.isFile($0.text) })?.text {
        throw ValidationError(
          "-i is --include, as in curl; to download the URLs in the file \(file), use --input-file \(file)")
      }
      if addresses.isEmpty { throw ValidationError("Missing expected argument '<urls> ...'") }
      return
    }
    if addresses.isEmpty, queueOptions.inputFile == nil, queueOptions.queue == nil {
      throw ValidationError("give URLs, --input-file FILE, or --queue NAME to continue its downloads")
    }
    if output != nil, addresses.isEmpty {
      throw ValidationError("-o is for a URL of the command line; in an --input-file, write out= below a URL")
    }
    if queueOptions.checksum != nil, addresses.count != 1 {
      throw ValidationError(
        "--checksum is for one URL (got \(addresses.count)); in an --input-file, write checksum= below each URL"
      )
    }
    let hasRange = try requestOptions.headerArguments().contains { $0.name == .range }
    let unusable = [
      (requestOptions.head, "-I"), (requestOptions.range != nil, "-r"),
      (hasRange, "-H Range"),
      (requestOptions.method.map { $0 != "GET" } ?? false, "-X"), (!contentOptions.parts.isEmpty, "-d"),
      (contentOptions.uploadFile != nil, "-T"), (include, "-i"), (usesHeaderName, "-J"),
      (!usesRemoteTime, "--no-remote-time"), (explain, "--explain"),
      (!requestOptions.cookieFiles.isEmpty, "-b FILE"),
      (cookieOptions.jarPath != nil, "-c"),
      (messages.writeOut != nil, "-w"), (output == "-", "-o -"), (connection.insecure, "-k"),
      (policy != .standard, "--policy"), (maxTime != nil, "--max-time"), (redirects != 20, "--redirects"),
    ]
    if let (_, name) = unusable.first(where: { $0.0 }) {
      throw ValidationError(
        "\(name) does not go with a queue (--input-file, --queue, --segments, --limit-rate, --checksum, "
          + "--link, --no-resume)")
    }
  }

  private static func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
  }

  /// Refuses a single URL without a file if its body is expected on standard output, where a queue writes none.
  private func checkFile() throws {
    guard addresses.count == 1, output == nil, !usesRemoteName, !json, queueOptions.inputFile == nil,
      queueOptions.queue == nil, Terminal.isFileOrPipe(STDOUT_FILENO)
    else { return }
    Console.report(
      "httpcache: with a queue option the body goes to a file, not to standard output; give -o FILE or -O, or "
        + "--queue \(QueueOptionGroup.defaultName) to store it in the cache only")
    throw ExitStatus.usage.code
  }

  /// Downloads through a queue.
  func runQueue() async throws {
    try checkFile()
    var (downloads, addFields, client) = try ExitStatus.reportingUsage {
      let plan = try downloadPlan()
      return (plan.downloads, plan.addFields, try connection.clientOptions())
    }
    let cache = try openCache(StorageRecorder { _ in })
    guard cache.configuration.directory != nil else { throw ExitStatus.cacheUnavailable.code }
    var configuration = DownloadQueue.Configuration()
    configuration.totalLimit = jobs
    configuration.perHostLimit = jobs
    configuration.rateLimit = queueOptions.limitRate?.bytes
    if let minimumFree { configuration.minimumFreeSpace = minimumFree.bytes }
    if let count = retry.count { configuration.tryLimit = count + 1 }
    if let delay = retry.delay { configuration.firstWait = Int64(delay.rounded(.up)) }
    if let limit = retry.maxTime { configuration.timeLimit = Int64(limit.rounded(.up)) }
    configuration.addFields = addFields
    configuration.startsSaved = downloads.isEmpty
    let run = QueueRun(
      cache: cache, name: queueOptions.name, otherNames: queueOptions.otherNames,
      configuration: configuration,
      messages: messages, isJSON: json, location: location)
    let status = try await run.run(client) { queue in
      let ids = try await add(downloads, to: queue)
      // The queue has them now.
      downloads = []
      return ids.isEmpty ? nil : ids
    }
    guard status == .success else { throw status.code }
  }

  /// The downloads of the arguments and of the file.
  ///
  /// - Throws: `ValidationError`; `ExitCode` after a message if there is none.
  private func downloadPlan() throws -> DownloadPlan {
    var plan = DownloadPlan(
      try RequestPlan(requestOptions, content: contentOptions), segments: queueOptions.segments,
      linksEntries: queueOptions.link, createsFolders: createsFolders)
    let digests = try queueOptions.checksum.map { [try QueueOptionGroup.digest($0, "--checksum")] } ?? []
    for address in addresses {
      try plan.add(address.text, output: output, usesRemoteName: usesRemoteName, digests: digests)
    }
    if let path = queueOptions.inputFile {
      let text = String(decoding: try InputFile.contents(path), as: UTF8.self)
      let name = path == "-" ? "standard input" : path
      let file = try DownloadFile(text, path: name)
      for entry in file.entries { try plan.add(entry, path: path) }
      if !messages.quiet { file.notes.forEach { Console.report("httpcache: \($0)") } }
      // The downloads of a queue that is named continue without a URL.
      let isNothingToDo = plan.downloads.isEmpty && queueOptions.queue == nil
      if file.entries.isEmpty, isNothingToDo || !messages.quiet {
        Console.report("httpcache: no URLs in \(name)")
      }
      if isNothingToDo { throw ExitStatus.failure.code }
    }
    plan.makeFolders()
    return plan
  }

  private func add(_ downloads: [Download], to queue: DownloadQueue) async throws -> Set<DownloadID> {
    var ids: Set<DownloadID> = []
    if !queueOptions.resume {
      let urls = Set(downloads.map(\.url))
      let destinations = Set(downloads.compactMap(\.destination))
      for status in queue.downloads
      where urls.contains(status.download.url)
        || status.download.destination.map(destinations.contains) == true
      {
        queue.remove(status.id)
      }
      for url in urls { _ = try await queue.cache.remove(.target(url)) }
    }
    for download in downloads {
      do throws(DownloadError) { ids.insert(try queue.add(download)) } catch {
        throw QueueRun.reporting(error, queue.name)
      }
    }
    // A download that an earlier run paused, or that waits for a retry, is asked for now.
    for id in ids where queue.status(of: id)?.state != .waiting(.slot) { queue.resume(id) }
    return ids
  }
}
