import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `--encryption-key-file`.
@Suite(.timeLimit(.minutes(10))) struct EncryptionTests {
  private static let bytes = (0..<32).map { UInt8($0) }

  private let directory: ScratchFolder
  private let plain: [String]
  private let keyed: [String]
  /// With another key.
  private let other: [String]

  init() throws {
    directory = try ScratchFolder()
    plain = ["--dir", directory.path("cache")]
    keyed = try plain + ["--encryption-key-file", directory.write(Self.bytes, to: "key", mode: 0o600)]
    let another = try directory.write(Self.bytes.reversed(), to: "other", mode: 0o600)
    other = plain + ["--encryption-key-file", another]
  }

  @Test("a key file holds bytes, hex digits or base64")
  func forms() throws {
    let hexadecimal = Self.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let base64 = Data(Self.bytes).base64EncodedString()
    for data in [
      Data(Self.bytes), Data(hexadecimal.utf8), Data((hexadecimal.uppercased() + "\n").utf8),
      Data((base64 + "\n").utf8), Data(base64.replacingOccurrences(of: "=", with: "").utf8),
    ] {
      let path = try directory.write(data, to: "form", mode: 0o600)
      #expect(try EncryptionKeyOption.readKey(path).array == Self.bytes)
    }
    for data in [Data(), Data("secret".utf8), Data(hexadecimal.dropLast().utf8), Data(Self.bytes + [1])] {
      let path = try directory.write(data, to: "form", mode: 0o600)
      #expect(throws: CacheError.self) { try EncryptionKeyOption.readKey(path) }
    }
  }

  @Test("a key that other users may read, or a missing key, is refused", arguments: [0o644, 0o640, 0o604])
  func mode(_ mode: Int) async throws {
    let path = try directory.write(Self.bytes, to: "open", mode: mode)
    let run = await CommandRun.failure(.usage, ["ls"] + plain + ["--encryption-key-file", path])
    #expect(run.errors.contains("chmod 600"))
    await CommandRun.failure(.usage, "ls", "--dir", directory.path, "--encryption-key-file", path + "x")
  }

  /// Runs a test with the URL of a response that was stored with the key.
  private func withEntry(_ body: (_ url: String) async throws -> Void) async throws {
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      await CommandRun.success(["get", url] + keyed)
      try await body(url)
    }
  }

  @Test("entries stored with a key are visible to other commands only with the key")
  func commands() async throws {
    try await withEntry { url in
      #expect(await CommandRun(["ls"] + keyed).output.contains(url))
      let listed = await CommandRun(["ls"] + plain)
      #expect(!listed.output.contains(url))
      #expect(!listed.output.contains("sealed-"))
      #expect(listed.errors.contains("encrypted with another key"))
      await CommandRun.success(["path", url, "--export", directory.path("copy")] + keyed)
      #expect(directory.file("copy").bytes?.count ?? 0 > 0)
      let verified = await CommandRun.success(["verify"] + keyed)
      #expect(verified.output.contains("1 encrypted response"))
      let sums = await CommandRun.success(["verify"] + plain)
      #expect(!sums.output.contains("encrypted response"))
      let explained = await CommandRun(["explain", url] + keyed)
      #expect(explained.output.contains("hit") || explained.output.contains("fresh"))
      #expect(await CommandRun(["purge", url] + keyed).output.contains("removed 1 response"))
    }
  }

  @Test("with a wrong key every command says so, finds nothing, and loses nothing")
  func wrongKey() async throws {
    try await withEntry { url in
      let (success, failure) = (ExitStatus.success, ExitStatus.failure)
      let commands = [
        (["ls"], failure), (["show", url], failure), (["path", url], failure),
        (["explain", url], success), (["stats"], success), (["verify"], success),
        (["purge", url], success), (["pack", directory.path("content.hca"), "--from-cache"], failure),
        (["get", url], success),
      ]
      for (arguments, status) in commands {
        for options in [other, plain] where arguments[0] != "get" || options == other {
          let run = await CommandRun(arguments + options)
          #expect(run.status == status.rawValue, "\(arguments): \(run.errors)")
          #expect(
            run.errors.contains("1 response is in the directory encrypted with another key"), "\(arguments)")
          #expect(arguments[0] == "get" || !run.output.contains(url) || arguments[0] == "explain")
        }
      }
      await CommandRun.success(["get", url, "--policy", "cache-only"] + keyed)
    }
  }

  @Test("pack without the key says why it leaves a response out")
  func packed() async throws {
    try await withEntry { _ in
      let run = await CommandRun(["pack", directory.path("content.hca"), "--from-cache"] + plain)
      #expect(run.errors.contains(": it is encrypted with another key\n"), "\(run.errors)")
    }
  }

  @Test("without the key, purge --all with --dir and a mode reaches the encrypted responses of that mode")
  func purgeOfMode() async throws {
    try await withEntry { url in
      await CommandRun.success(["get", url, "--shared"] + keyed)
      for (options, told) in [
        (plain + ["--soft"], "expired 1 response\n"), (other, "removed 1 response\n"),
        (plain, "removed 0 responses\n"),
      ] {
        let run = await CommandRun.success(["purge", "--all", "--shared"] + options)
        #expect(run.output == told)
      }
      await CommandRun.failure(.failure, ["ls", "--shared"] + keyed)
      #expect(await CommandRun(["ls", "--private"] + keyed).output.contains(url))
    }
  }

  @Test("a purge by name that needs the key names its option")
  func purgeByName() async throws {
    try await withEntry { url in
      let base = url.dropLast(DemoResource.image.rawValue.count)
      for arguments in [[url], ["--prefix", "\(base)/"], ["--group", "g", "--origin", "\(base)"]] {
        let run = await CommandRun.success(["purge", "--private"] + plain + arguments)
        #expect(run.output == "removed 0 responses\n", "\(arguments)")
        #expect(
          run.errors.contains("they are not found; --encryption-key-file says where the key is"),
          "\(run.errors)")
      }
    }
  }

  @Test("ls and verify report entries that they do not open, plain or encrypted")
  func beside() async throws {
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.image.rawValue
      _ = await CommandRun(["get", url] + plain)
      let keyedList = await CommandRun(["ls"] + keyed)
      #expect(!keyedList.output.contains(url))
      #expect(keyedList.errors.contains("1 response in the directory is not encrypted"))
      let verified = await CommandRun.success(["verify"] + keyed)
      #expect(verified.output.contains("1 response not encrypted: only checksums checked"))
      let plainList = await CommandRun(["ls"] + plain)
      #expect(plainList.output.contains(url), "looking removes nothing")
      #expect(!plainList.errors.contains("encrypted"))
      _ = await CommandRun(["get", url] + keyed)
      let sums = await CommandRun(["verify"] + plain)
      #expect(sums.output.contains("1 response encrypted: not decrypted, only checksums checked"))
      #expect(await !CommandRun(["ls"] + plain).output.contains(url))
    }
  }
}
