import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct NetrcTests {
  private static let file = NetrcFile(
    """
    # comment machine a.example login no
    machine a.example login one password "p w\\"q"
    machine B.example
      login two
      account x
      password three # the rest of the line
    macdef init
    machine c.example login macro password macro

    machine c.example login four password five
    default login anonymous password me@
    """)

  @Test(
    "the entry of a host is found, else the default",
    arguments: [
      ("a.example", "one", "p w\"q"), ("b.EXAMPLE", "two", "three"), ("c.example", "four", "five"),
      ("other.example", "anonymous", "me@"),
    ])
  func hosts(host: String, user: String, password: String) {
    #expect(Self.file.credentials(host: host) == Credentials(user: user, password: password))
  }

  @Test("without a default, other hosts have no password")
  func noDefault() {
    #expect(NetrcFile("machine a login b password c").credentials(host: "d") == nil)
    #expect(NetrcFile("").credentials(host: "d") == nil)
  }
}
