import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct ShortOptionTests {
  @Test(
    "short options that are written together are taken apart",
    arguments: [
      (["-sSLXPOST"], ["-s", "-S", "-L", "-X", "POST"]), (["-da=1"], ["-d", "a=1"]),
      (["-sSLo", "-f"], ["-s", "-S", "-L", "-o", "-f"]), (["-ofile", "-sS"], ["-o", "file", "-s", "-S"]),
      (["-d-s", "-sS"], ["-d", "-s", "-s", "-S"]), (["-r", "-500"], ["-r", "-500"]),
      (["--data", "-sS"], ["--data", "-sS"]), (["--data=x", "-sS"], ["--data=x", "-s", "-S"]),
      (["--", "-sS"], ["--", "-sS"]), (["-sZ"], ["-sZ"]), (["-"], ["-"]),
      (["-o", "-", "-sS"], ["-o", "-", "-s", "-S"]),
    ])
  func split(arguments: [String], parts: [String]) {
    #expect(ShortOptions.split(["get"] + arguments) == ["get"] + parts)
  }

  @Test("each letter is an option of get")
  func letters() async {
    for letter in "IJGLOSfiknqsvAHTUXbdejmoruwx" {
      let run = await CommandRun("get", "-\(letter)")
      #expect(!run.errors.contains("Unknown option"), "-\(letter): \(run.errors)")
    }
  }

  @Test("other commands keep their arguments")
  func others() { #expect(ShortOptions.split(["ls", "-sS"]) == ["ls", "-sS"]) }
}
