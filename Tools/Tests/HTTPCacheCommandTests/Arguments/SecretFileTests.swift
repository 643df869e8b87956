import Foundation
import Testing

@testable import HTTPCacheCommand

@Suite("Files with tokens and keys", .timeLimit(.minutes(10)))
struct SecretFileTests {
  @Test(
    "only the user may read the file; systemd shows its access list as bits of the group",
    arguments: [
      (0o600, nil, false), (0o640, nil, true), (0o604, nil, true), (0o440, "/run/credentials/x", false),
      (0o444, "/run/credentials/x", true), (0o440, "/run/credentials", false), (0o440, "/run/cred", true),
      (0o440, "", true),
    ] as [(mode_t, String?, Bool)])
  func modes(_ mode: mode_t, _ folder: String?, _ isOpen: Bool) {
    var status = stat()
    status.st_mode = S_IFREG | mode
    #expect(SecretFile.isOpenToOthers("/run/credentials/x/token", status, folder: folder) == isOpen)
  }

  @Test("a path that leaves the folder of systemd is like any other; a pipe has no mode")
  func paths() {
    var status = stat()
    status.st_mode = S_IFREG | 0o440
    #expect(SecretFile.isOpenToOthers("/run/credentials/x/../y", status, folder: "/run/credentials/x"))
    status.st_mode = S_IFIFO | 0o644
    #expect(!SecretFile.isOpenToOthers("/dev/fd/63", status, folder: nil))
  }
}
