import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct HeaderNameTests {
  @Test(
    "Content-Disposition names a file, without folders, and never a hidden one",
    arguments: [
      (#"attachment; filename="a b.txt""#, "a b.txt"), ("attachment; filename=a.txt", "a.txt"),
      (#"attachment; filename="../../etc/passwd""#, "passwd"),
      (#"attachment; filename="C:\\x\\y.exe""#, "y.exe"),
      (#"attachment; filename=".bashrc""#, "_bashrc"), (#"attachment; filename="-rf""#, "_rf"),
      (#"attachment; filename="a\"b""#, "a\"b"), (#"attachment; filename="a;b"; x=y"#, "a;b"),
      ("attachment; filename=\"e.txt\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
      ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"), ("attachment; filename*=utf-9''y; filename=z", "z"),
      ("attachment; filename=a; filename=b", "a"),
      ("attachment; filename=a; filename*=UTF-8''b; filename=c", "b"),
      ("attachment", nil), ("attachment; filename=\"\"", nil), ("attachment; filename=\"/\"", nil),
      (
        "attachment; filename*=UTF-8''a" + String(repeating: "%CC%81", count: 100) + ".bash_profile",
        "a" + String(repeating: "\u{301}", count: 93) + ".bash_profile"
      ),
      (
        "attachment; filename*=UTF-8''a" + String(repeating: "%CC%81", count: 150),
        "a" + String(repeating: "\u{301}", count: 99)
      ),
      ("attachment; filename*=UTF-8''.%CC%81rc", "_\u{301}rc"),
    ] as [(String, String?)])
  func names(value: String, name: String?) throws {
    let field = try #require(HTTPField.Name("Content-Disposition"))
    #expect(ContentDisposition.fileName([field: value]) == name)
  }

  @Test("-J writes to the name that the origin gives, and overwrites nothing")
  func named() throws {
    let directory = try ScratchFolder()
    let response = CacheResponse(
      head: HTTPResponse(
        status: .ok,
        headerFields: [try #require(HTTPField.Name("Content-Disposition")): "attachment; filename=taken"]),
      body: MessageBody(BodyBytes(Array("ok".utf8))),
      outcome: .hit(age: .seconds(0), lifetime: .seconds(1), allowance: nil), finalTarget: "http://a/")
    let handling = ResponseHandling(usesHeaderName: true)
    let request = try TargetURL(parsing: "http://a/b").request()
    let free = try handling.prepared(response, of: request, for: .file(directory.path("b")))
    #expect(free.1 == .file(directory.path("taken")))
    try directory.write("mine".utf8, to: "taken")
    #expect(throws: OutputFailure.self) {
      try handling.prepared(response, of: request, for: .file(directory.path("b")))
    }
    #expect(try handling.prepared(response, of: request, for: .standardOutput).1 == .standardOutput)
  }
}
