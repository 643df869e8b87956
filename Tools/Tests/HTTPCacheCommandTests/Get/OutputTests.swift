import Foundation
import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheCommand

/// `-o` with paths of all kinds. Devices are nodes that the test makes.
@Suite(.timeLimit(.minutes(10))) struct OutputTests {
  private static let body = "a body\n"
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func get(_ arguments: String..., answer: String? = nil) async throws -> CommandRun {
    let origin = try await ScriptedOrigin(
      answer ?? "HTTP/1.1 200 OK\r\nContent-Length: \(Self.body.utf8.count)\r\n\r\n\(Self.body)")
    return await CommandRun(["get", origin.base + "/x", "--dir", directory.path("cache")] + arguments)
  }

  private func attribute<Value>(_ key: FileAttributeKey, _ path: String) throws -> Value? {
    try FileManager.default.attributesOfItem(atPath: path)[key] as? Value
  }

  private func type(_ path: String) throws -> FileAttributeType? { try attribute(.type, path) }

  /// Mode, owner and group.
  private func rights(_ path: String) throws -> [Int?] {
    try [.posixPermissions, .ownerAccountID, .groupOwnerAccountID].map { try attribute($0, path) }
  }

  private func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a device gets the bytes and stays a device", .enabled(if: geteuid() == 0))
  func device() async throws {
    let node = directory.path("null")
    try #require(mknod(node, S_IFCHR | 0o666, dev_t(1 << 8 | 3)) == 0)
    try await get("-o", node).expectSuccess()
    #expect(try type(node) == .typeCharacterSpecial)
    #expect(directory.namesBesideCache == ["null"])
  }

  @Test("a device that takes no bytes is an error that names it", .enabled(if: geteuid() == 0))
  func fullDevice() async throws {
    let node = directory.path("full")
    try #require(mknod(node, S_IFCHR | 0o666, dev_t(1 << 8 | 7)) == 0)
    let run = try await get("-o", node).expect(.output)
    #expect(run.errors.contains("cannot write the body to \(node): no space left on device"))
  }

  @Test("a FIFO gets the bytes and stays a FIFO")
  func fifo() async throws {
    let path = directory.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    async let reader = withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: Self.readToEnd(path)) }
    }
    try await get("-o", path).expectSuccess()
    #expect(await reader == Self.body)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }

  /// `FileManager` does not read FIFOs.
  private static func readToEnd(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer.prefix(count)
    }
  }

  @Test("a FIFO without a reader says so and can be interrupted")
  func lonelyFIFO() async throws {
    let path = directory.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let (clock, errors) = (ManualClock(now: SystemClock().now), LineRecorder())
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    async let run = CommandEnvironment.$clock.withValue(clock) {
      await CommandRun(
        ["get", origin.base, "--dir", directory.path("cache"), "-o", path, "--max-time", "3"], errors: errors)
    }
    try await eventually { errors.text.contains("\(path) is a FIFO; waiting for a reader") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(3))
    await run.expect(.timeout)
    // The abandoned open would hold a thread of this process, if it has begun by now or later.
    try #require(open(path, O_RDWR | O_CLOEXEC) >= 0)
  }

  @Test("/dev/fd/N appends to the descriptor, and leaves it open")
  func descriptor() async throws {
    let file = open(directory.path("log"), O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    #expect(write(file, "before\n", 7) == 7)
    try await get("-o", "/dev/fd/\(file)").expectSuccess()
    #expect(write(file, "after\n", 6) == 6)
    #expect(text(directory.path("log")) == "before\n\(Self.body)after\n")
    let closed = try await get("-o", "/dev/fd/99999999")
    #expect(closed.errors.contains("/dev/fd/99999999: descriptor 99999999 is not open"))
    #expect(closed.status == ExitStatus.output.rawValue)
  }

  @Test("a link stays, and its target is replaced, or made if there is none")
  func links() async throws {
    try directory.makeFolder("folder")
    try directory.write("old".utf8, to: "folder/target")
    for (name, target) in [("link", "folder/target"), ("second", "link"), ("dangling", "folder/new")] {
      #expect(symlink(target, directory.path(name)) == 0)
    }
    for name in ["second", "dangling"] {
      try await get("-o", directory.path(name)).expectSuccess()
      #expect(try type(directory.path(name)) == .typeSymbolicLink)
    }
    #expect(try type(directory.path("link")) == .typeSymbolicLink)
    #expect(text(directory.path("folder/target")) == Self.body)
    #expect(text(directory.path("folder/new")) == Self.body)
    #expect(symlink("loop", directory.path("loop")) == 0)
    let loop = try await get("-o", directory.path("loop"))
    #expect(loop.errors.contains("too many levels"), "\(loop.errors)")
  }

  @Test("mode and owner of a file stay, and another name of the file shows the new content")
  func attributes() async throws {
    let file = try directory.write("an old and longer body".utf8, to: "file")
    #expect(chmod(file, 0o640) == 0)
    if geteuid() == 0 { #expect(chown(file, 1234, 2345) == 0) }
    let before = try rights(file)
    _ = try await get("-o", file)
    #expect(text(file) == Self.body)
    #expect(try rights(file) == before && before[0] == 0o640)
    try directory.write("an old and longer body".utf8, to: "file")
    #expect(link(file, directory.path("other")) == 0)
    _ = try await get("-o", file)
    #expect(text(directory.path("other")) == Self.body)
    #expect(directory.namesBesideCache == ["file", "other"])
  }

  @Test("a new file has the mode that the umask leaves")
  func newMode() async throws {
    let model = open(directory.path("usual"), O_CREAT | O_WRONLY, 0o666)
    close(model)
    _ = try await get("-o", directory.path("new"))
    #expect(try rights(directory.path("new")) == rights(directory.path("usual")))
  }

  @Test("--create-dirs makes the folders of -o, with a queue and without", arguments: [false, true])
  func folders(isQueue: Bool) async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let arguments =
      ["get", origin.base + "/", "--dir", directory.path("cache"), "-o", directory.path("a/b/c")]
      + (isQueue ? ["--queue", "q"] : [])
    if !isQueue {
      let refused = await CommandRun(arguments)
      #expect(refused.errors.contains("its folder does not exist"), "\(refused.errors)")
    }
    await CommandRun.success(arguments + ["--create-dirs"])
    #expect(directory.file("a/b/c").bytes == Array("ok".utf8))
  }

  @Test("a directory, a socket and a folder that is not there are told apart, before the origin is asked")
  func unusable() async throws {
    let origin = try await ScriptedOrigin { _ in .init(head: "HTTP/1.1 200 OK\r\nContent-Length: 0") }
    func run(_ path: String) async -> CommandRun {
      await CommandRun("get", origin.base, "--dir", directory.path("cache"), "-o", path)
    }
    let folder = await run(directory.path).expect(.output)
    #expect(folder.errors.contains("\(directory.path) names a directory; name a file in it"))
    let missingFolder = await run(directory.path("no/")).expect(.output)
    #expect(missingFolder.errors.contains("\(directory.path("no/")) names a directory; name a file in it"))
    let missing = await run(directory.path("no/file")).expect(.output)
    #expect(
      missing.errors.contains("cannot write to \(directory.path("no/file")): its folder does not exist"))
    let socketPath = directory.path("s")
    let descriptor = try Self.listen(socketPath)
    defer { close(descriptor) }
    let socket = await run(socketPath)
    #expect(socket.errors.contains("\(socketPath) is a socket"))
    #expect(origin.requests.isEmpty)
  }

  @Test("a missing folder is told only where it is missing: some file systems make no files")
  func noSuchFile() throws {
    #expect(
      OutputFailure("cannot write", ENOENT, at: directory.path("f")).description
        == "cannot write: no file can be made there (no such file)")
    #expect(
      OutputFailure("cannot write", ENOENT, at: directory.path("no/f")).description
        == "cannot write: its folder does not exist")
  }

  private static func listen(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    return descriptor
  }

  @Test("a failed transfer changes neither the file nor its folder")
  func failure() async throws {
    let file = try directory.write("old".utf8, to: "file")
    let before: Int? = try attribute(.systemFileNumber, file)
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: no-store\r\n\r\nshort"
    try await get("-o", file, answer: answer).expect(.brokenProtocol)
    #expect(text(file) == "old")
    #expect(try before != nil && attribute(.systemFileNumber, file) == before)
    #expect(directory.namesBesideCache == ["file"])
  }

  @Test("of transfers that end at once with one name from -J, one gets it")
  func claimed() async throws {
    for round in 0..<300 {
      let path = directory.path("given\(round)")
      let outputs = try (0..<6).map { try Output(.file(directory.path("url\($0)")), isNamedByHead: true) }
      for output in outputs {
        try output.name(.file(path), isNew: true)
        try await output.begin(nil)
      }
      let ended = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: outputs.count) { index in
        if (try? outputs[index].finish()) != nil { ended.withLock { $0 += 1 } }
      }
      #expect(ended.withLock { $0 } == 1)
    }
  }

  @Test("a name from -J is refused if its file appears after the head was compared with the folder")
  func appeared() throws {
    let path = directory.path("given")
    let output = try Output(.file(directory.path("url")), isNamedByHead: true)
    try directory.write("other".utf8, to: "given")
    #expect(throws: OutputFailure.self) { try output.name(.file(path), isNew: true) }
    // A second attempt of the transfer knows the name already.
    #expect(throws: OutputFailure.self) { try output.name(.file(path), isNew: false) }
    // The name of the URL is the user's choice.
    let own = try Output(.file(path), isNamedByHead: true)
    try own.name(.file(path), isNew: false)
    #expect(text(path) == "other")
  }

  @Test("several URLs with one name get files of their own, one after another in the order of the URLs")
  func sameName() {
    var taken: Set<String> = []
    let names = ["/a/x.txt", "/b/x.txt", "/c/x-2.txt"].map { path -> String in
      let name = FileName.unique(FileName.safe(from: path), isTaken: taken.contains)
      taken.insert(name)
      return name
    }
    #expect(names == ["x.txt", "x-2.txt", "x-2-2.txt"])
    #expect(FileName.unique("x.tar.gz", isTaken: ["x.tar.gz"].contains) == "x-2.tar.gz")
  }

  @Test("one URL twice at once makes two files of their own, and leaves no part")
  func oneURLTwice() async throws {
    let file = ServedFile(content: ServedFile.bytes(200_000), fields: "Cache-Control: max-age=60")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let url = origin.base + "/file"
    let run = try await CommandProcess(
      ["get", url, url, "--dir", directory.path("cache"), "-O"], in: directory
    ).end()
    #expect(run.status == 0, "\(run.errors)")
    #expect(directory.file("file").bytes == file.content && directory.file("file-2").bytes == file.content)
    #expect(!directory.names.contains { $0.contains(".httpcache-part") }, "\(directory.names)")
  }

  @Test(
    "two URLs whose names are one file are refused before anything is asked",
    arguments: ["symbolic", "hard", "missing"])
  func oneFile(_ kind: String) async throws {
    let file = ServedFile(content: ServedFile.bytes(100))
    let origin = try await ScriptedOrigin { file.answer($0) }
    if kind != "missing" { try directory.write("old".utf8, to: "b") }
    if kind == "hard" {
      try FileManager.default.linkItem(atPath: directory.path("b"), toPath: directory.path("a"))
    } else {
      try FileManager.default.createSymbolicLink(atPath: directory.path("a"), withDestinationPath: "b")
    }
    let run = try await CommandProcess(
      ["get", origin.base + "/a", origin.base + "/b", "--dir", directory.path("cache"), "-O"], in: directory
    ).end()
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.contains("a and b are one file"), "\(run.errors)")
    #expect(directory.file("b").bytes == (kind == "missing" ? nil : Array("old".utf8)))
    #expect(origin.requests.isEmpty)
  }
}
