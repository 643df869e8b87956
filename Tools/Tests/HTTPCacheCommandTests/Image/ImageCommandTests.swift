import Foundation
import HTTPCacheImages
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct ImageCommandTests {
  /// An origin with a picture of 80 x 40 pixels, or with a page.
  private func origin() async throws -> ScriptedOrigin {
    var pixels: [UInt8] = []
    for index in 0..<80 * 40 { pixels += [UInt8(index % 80 * 3), UInt8(index / 80 * 6), 90, 255] }
    let image = try DecodedImage(
      size: ImageSize(width: 80, height: 40), pixels: BodyBytes(pixels), isOpaque: true)
    let png = try PNGEncoder().encode(image).array
    return try await ScriptedOrigin { request, _ in
      if request.hasPrefix("GET /none ") {
        return Array("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
      }
      let isPage = request.hasPrefix("GET /page ")
      let body = isPage ? Array("<!doctype html><title>Sign in</title>".utf8) : png
      let head =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: \(isPage ? "text/html" : "image/png")\r\n"
        + "Cache-Control: max-age=600\r\nContent-Length: \(body.count)\r\n\r\n"
      return Array(head.utf8) + body
    }
  }

  private func decoded(_ directory: ScratchFolder, _ name: String) throws -> DecodedImage {
    try ImageFormats.standard.decode(BodyBytes(try #require(directory.file(name).bytes)))
  }

  @Test("an image is fetched once, and written in another size and format")
  func resized() async throws {
    let (directory, origin) = (try ScratchFolder(), try await origin())
    let url = "http://\(origin.authority)/a.png"
    let common = [url, "--dir", directory.path("cache"), "--resize", "20x20", "-o"]
    var run = await CommandRun(["image"] + common + [directory.path("small.jpg")])
    #expect(run.status == 0 && run.errors.contains("20 x 10"), "\(run.errors)")
    run = await CommandRun(["image"] + common + [directory.path("fill.webp"), "--mode", "fill"])
    #expect(run.status == 0, "\(run.errors)")
    run = await CommandRun(["image"] + common + [directory.path("plain"), "--format", "png", "--round", "5"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try decoded(directory, "small.jpg").size == ImageSize(width: 20, height: 10))
    #expect(try decoded(directory, "fill.webp").size == ImageSize(width: 20, height: 20))
    #expect(try decoded(directory, "plain").pixel(x: 0, y: 0)?.w == 0)
    #expect(directory.file("small.jpg").bytes?.prefix(2) == [0xFF, 0xD8])
    #expect(origin.requests.count == 1)
  }

  @Test("--mode stretch takes the size as it is, and --enlarge lets a smaller image grow to it")
  func stretched() async throws {
    let (directory, origin) = (try ScratchFolder(), try await origin())
    let url = "http://\(origin.authority)/a.png"
    for (name, resize, rest, size) in [
      ("enlarged.png", "200x200", ["--enlarge"], ImageSize(width: 200, height: 200)),
      ("stays.png", "200x200", [], ImageSize(width: 80, height: 40)),
      ("smaller.png", "30x30", [], ImageSize(width: 30, height: 30)),
    ] as [(String, String, [String], ImageSize)] {
      await CommandRun.success(
        ["image", url, "--dir", directory.path("cache"), "--resize", resize, "--mode", "stretch", "-o"]
          + [directory.path(name)] + rest)
      #expect(try decoded(directory, name).size == size, "\(name)")
    }
    // The colors of the origin's picture grow to the right and downwards: they are stretched, not cropped.
    let enlarged = try decoded(directory, "enlarged.png")
    let (first, last) = (
      try #require(enlarged.pixel(x: 0, y: 0)), try #require(enlarged.pixel(x: 199, y: 199))
    )
    #expect(first.x < 10 && first.y < 10 && last.x > 227 && last.y > 224)
  }

  @Test("several images go into a folder, under their names; the first failure is the exit status")
  func several() async throws {
    let (directory, origin) = (try ScratchFolder(), try await origin())
    let base = "http://\(origin.authority)"
    let run = await CommandRun(
      "image", base + "/a.png", base + "/b/a.png", base + "/page", base + "/none", "--format", "png", "--dir",
      directory.path("cache"), "-o", directory.path)
    #expect(run.status == ExitStatus.failure.rawValue, "\(run.errors)")
    #expect(run.errors.contains("text/html is no image"), "\(run.errors)")
    #expect(run.errors.contains("the origin answered 404"), "\(run.errors)")
    #expect(try decoded(directory, "a.png").size == decoded(directory, "a-2.png").size)
    #expect(directory.file("page.png").bytes == nil && directory.file("none.png").bytes == nil)
  }

  @Test("user and password of a URL are sent")
  func credentials() async throws {
    let (directory, origin) = (try ScratchFolder(), try await origin())
    let run = await CommandRun.success(
      "image", "http://u:p@\(origin.authority)/a.png", "--dir", directory.path("cache"), "-o",
      directory.path("a.png"))
    #expect(origin.requests.first?.fields["authorization"] == "Basic dTpw")
    #expect(!run.errors.contains("u:p@"))
  }

  @Test("errors have their exit status")
  func failures() async throws {
    let (directory, origin) = (try ScratchFolder(), try await origin())
    let base = "http://\(origin.authority)"
    let rest = ["--dir", directory.path("cache"), "-o"]
    for (arguments, status) in [
      ([base + "/none"] + rest + [directory.path("x.png")], ExitStatus.httpError),
      ([base + "/a.png", "--policy", "cache-only"] + rest + [directory.path("x.png")], .notStored),
      ([base + "/a.png"] + rest + [directory.path("missing/x.png")], .output),
      ([base + "/a.png", base + "/b.png"] + rest + [directory.path("missing")], .usage),
      ([base + "/a.png", "--resize", "20"] + rest + [directory.path("x.png")], .usage),
      ([base + "/a.png", "--quality", "0"] + rest + [directory.path("x.png")], .usage),
      (["http://127.0.0.1:1/a.png"] + rest + [directory.path("x.png")], .unreachable),
    ] {
      let run = await CommandRun(["image"] + arguments)
      #expect(run.status == status.rawValue, "\(arguments): \(run.errors)")
    }
    #expect(directory.file("x.png").bytes == nil)
    let asked = origin.requests.count
    for (place, reason) in [
      (directory.path("missing/"), "names a directory; name a file in it"),
      (directory.path, "names a directory; name a file in it"),
      (directory.path("missing/x.png"), "its folder does not exist"),
    ] {
      let run = await CommandRun(["image", base + "/b.png"] + rest + [place])
      #expect(run.status == ExitStatus.output.rawValue && run.errors.contains(reason), "\(run.errors)")
    }
    #expect(directory.file("missing").bytes == nil && origin.requests.count == asked)
  }
}
