import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// `--encryption-key-file`.
@Suite(.timeLimit(.minutes(10))) struct EncryptionTests {
  private static let bytes = (0..<32).map { UInt8($0) }

  private func write(_ data: Data, mode: Int = 0o600, in directory: TemporaryDirectory) throws -> String {
    try directory.write(data, to: "key-\(UUID().uuidString)", mode: mode)
  }

  @Test("a key file holds bytes, hex digits or base64")
  func forms() throws {
    let directory = try TemporaryDirectory()
    let hexadecimal = Self.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let base64 = Data(Self.bytes).base64EncodedString()
    for data in [
      Data(Self.bytes), Data(hexadecimal.utf8), Data((hexadecimal.uppercased() + "\n").utf8),
      Data((base64 + "\n").utf8), Data(base64.replacingOccurrences(of: "=", with: "").utf8),
    ] {
      let key = try EncryptionKeyOption.readKey(try write(data, in: directory))
      #expect(key.array == Self.bytes)
    }
    for data in [Data(), Data("secret".utf8), Data(hexadecimal.dropLast().utf8), Data(Self.bytes + [1])] {
      let path = try write(data, in: directory)
      #expect(throws: CacheError.self) { try EncryptionKeyOption.readKey(path) }
    }
  }

  @Test("a key that other users may read, or a missing key, is refused", arguments: [0o644, 0o640, 0o604])
  func mode(_ mode: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = try write(Data(Self.bytes), mode: mode, in: directory)
    let run = await CommandRun("ls", "--dir", directory.file("cache"), "--encryption-key-file", path)
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.contains("chmod 600"))
    let none = await CommandRun("ls", "--dir", directory.path, "--encryption-key-file", path + "x")
    #expect(none.status == ExitStatus.usage.rawValue)
  }

  @Test("entries stored with a key are visible to other commands only with the key")
  func commands() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      let get = await CommandRun("get", url, "--dir", cache, "--encryption-key-file", key)
      try #require(get.status == 0, "\(get.errors)")
      let listed = await CommandRun("ls", "--dir", cache, "--encryption-key-file", key)
      #expect(listed.output.contains(url))
      let plain = await CommandRun("ls", "--dir", cache)
      #expect(!plain.output.contains(url))
      #expect(!plain.output.contains("sealed-"))
      #expect(plain.errors.contains("encrypted with another key"))
      let exported = directory.file("copy")
      let path = await CommandRun(
        "path", url, "--export", exported, "--dir", cache, "--encryption-key-file", key)
      #expect(path.status == 0, "\(path.errors)")
      #expect(directory.contents("copy")?.count ?? 0 > 0)
      let verified = await CommandRun("verify", "--dir", cache, "--encryption-key-file", key)
      #expect(verified.status == 0)
      #expect(verified.output.contains("1 encrypted response"))
      let sums = await CommandRun("verify", "--dir", cache)
      #expect(sums.status == 0)
      #expect(!sums.output.contains("encrypted response"))
      let explained = await CommandRun("explain", url, "--dir", cache, "--encryption-key-file", key)
      #expect(explained.output.contains("hit") || explained.output.contains("fresh"))
      let purged = await CommandRun("purge", url, "--dir", cache, "--encryption-key-file", key)
      #expect(purged.output.contains("removed 1 response"))
    }
  }

  @Test("with a wrong key every command says so, finds nothing, and loses nothing")
  func wrongKey() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    let other = try write(Data(Self.bytes.reversed()), in: directory)
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      let get = await CommandRun("get", url, "--dir", cache, "--encryption-key-file", key)
      try #require(get.status == 0, "\(get.errors)")
      let (success, failure) = (ExitStatus.success.rawValue, ExitStatus.failure.rawValue)
      let commands = [
        (["ls"], failure), (["show", url], failure), (["path", url], failure),
        (["explain", url], success), (["stats"], success), (["verify"], success),
        (["purge", url], success), (["pack", directory.file("content.hca"), "--from-cache"], failure),
        (["get", url], success),
      ]
      for (arguments, status) in commands {
        for option in [["--encryption-key-file", other], []] where arguments[0] != "get" || !option.isEmpty {
          let run = await CommandRun(arguments + ["--dir", cache] + option)
          #expect(run.status == status, "\(arguments): \(run.errors)")
          #expect(
            run.errors.contains("1 response is in the directory encrypted with another key"), "\(arguments)")
          #expect(arguments[0] == "get" || !run.output.contains(url) || arguments[0] == "explain")
        }
      }
      let again = await CommandRun(
        "get", url, "--policy", "cache-only", "--dir", cache, "--encryption-key-file", key)
      #expect(again.status == 0, "\(again.errors)")
    }
  }

  @Test("pack without the key says why it leaves a response out")
  func packed() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      let get = await CommandRun("get", url, "--dir", cache, "--encryption-key-file", key)
      try #require(get.status == 0, "\(get.errors)")
      let run = await CommandRun("pack", directory.file("content.hca"), "--from-cache", "--dir", cache)
      #expect(run.errors.contains(": it is encrypted with another key\n"), "\(run.errors)")
    }
  }

  @Test("without the key, purge --all with --dir and a mode reaches the encrypted responses of that mode")
  func purgeOfMode() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      for mode in ["--private", "--shared"] {
        let get = await CommandRun("get", url, "--dir", cache, mode, "--encryption-key-file", key)
        try #require(get.status == 0, "\(get.errors)")
      }
      let other = try write(Data(Self.bytes.reversed()), in: directory)
      for (options, told) in [
        (["--soft"], "expired 1 response\n"), (["--encryption-key-file", other], "removed 1 response\n"),
        ([], "removed 0 responses\n"),
      ] as [([String], String)] {
        let run = await CommandRun(["purge", "--all", "--shared", "--dir", cache] + options)
        #expect(run.status == 0 && run.output == told, "\(run.output)\(run.errors)")
      }
      let open = ["--dir", cache, "--encryption-key-file", key]
      #expect(await CommandRun(["ls", "--shared"] + open).status == ExitStatus.failure.rawValue)
      #expect(await CommandRun(["ls", "--private"] + open).output.contains(url))
    }
  }

  @Test("a purge by name that needs the key names its option")
  func purgeByName() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      let get = await CommandRun("get", url, "--dir", cache, "--encryption-key-file", key)
      try #require(get.status == 0, "\(get.errors)")
      for arguments in [[url], ["--prefix", origin.base + "/"], ["--group", "g", "--origin", origin.base]] {
        let run = await CommandRun(["purge", "--private", "--dir", cache] + arguments)
        #expect(run.status == 0 && run.output == "removed 0 responses\n", "\(arguments)")
        #expect(
          run.errors.contains("they are not found; --encryption-key-file says where the key is"),
          "\(run.errors)")
      }
    }
  }

  @Test("ls and verify report entries that they do not open, plain or encrypted")
  func beside() async throws {
    let directory = try TemporaryDirectory()
    let (cache, key) = (directory.file("cache"), try write(Data(Self.bytes), in: directory))
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      _ = await CommandRun("get", url, "--dir", cache)
      let listed = await CommandRun("ls", "--dir", cache, "--encryption-key-file", key)
      #expect(!listed.output.contains(url))
      #expect(listed.errors.contains("1 response in the directory is not encrypted"))
      let verified = await CommandRun("verify", "--dir", cache, "--encryption-key-file", key)
      #expect(verified.status == 0)
      #expect(verified.output.contains("1 response not encrypted: only checksums checked"))
      let plain = await CommandRun("ls", "--dir", cache)
      #expect(plain.output.contains(url), "looking removes nothing")
      #expect(!plain.errors.contains("encrypted"))
      _ = await CommandRun("get", url, "--dir", cache, "--encryption-key-file", key)
      let sums = await CommandRun("verify", "--dir", cache)
      #expect(sums.output.contains("1 response encrypted: not decrypted, only checksums checked"))
      let after = await CommandRun("ls", "--dir", cache)
      #expect(!after.output.contains(url))
    }
  }
}
