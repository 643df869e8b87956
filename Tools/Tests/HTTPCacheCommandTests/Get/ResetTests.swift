import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// Bytes that came before a connection broke.
@Suite(.timeLimit(.minutes(10))) struct ResetTests {
  @Test(
    "all bytes that the kernel had are in the part, whatever their burst, and the next run continues behind them",
    arguments: [1, 1_000, 20_000, 65_536, 300_000, 1_000_000], [false, true])
  func burst(count: Int, isChunked: Bool) async throws {
    let directory = try TemporaryDirectory()
    let content = ServedFile.bytes(1_500_000)
    let origin = try ResettingOrigin(content, resetAfter: count, isChunked: isChunked)
    let arguments = ["get", origin.base, "--dir", directory.file("cache"), "-o", directory.file("out")]
    let first = await CommandRun(arguments)
    #expect(first.status == ExitStatus.brokenProtocol.rawValue, "\(first.errors)")
    #expect(directory.contents("out.httpcache-part/body").map { Array($0) } == Array(content.prefix(count)))
    #expect(directory.contents("out") == nil)
    let second = await CommandRun(arguments)
    #expect(second.status == 0, "\(second.errors)")
    #expect(directory.contents("out") == content)
    #expect(origin.heads.last?.contains("bytes=\(count)-") == true, "\(origin.heads)")
    origin.stop()
  }
}
