import Foundation
import Testing

@testable import HTTPCacheCommand

@Suite("Files with tokens and keys", .timeLimit(.minutes(10)))
struct SecretFileTests {
  @Test(
    "only the user may read the file; systemd shows its access list as bits of the group",
    arguments: [
      (0o600, nil, false), (0o640, nil, true), (0o604, nil, true), (0o440, "/srv/credentials/x", false),
      (0o444, "/srv/credentials/x", true), (0o440, "/srv/credentials", false), (0o440, "/srv/cred", true),
      (0o440, "", true),
    ] as [(mode_t, String?, Bool)])
  func modes(_ mode: mode_t, _ folder: String?, _ isOpen: Bool) {
    var status = stat()
    status.st_mode = S_IFREG | mode
    #expect(SecretFile.isOpenToOthers("/srv/credentials/x/token", status, folder: folder) == isOpen)
  }

  @Test("the files of a unit are as systemd made them for a check outside of the unit, too")
  func outsideOfTheUnit() {
    var status = stat()
    status.st_mode = S_IFREG | 0o440
    #expect(!SecretFile.isOpenToOthers("/run/credentials/httpcache.service/token", status, folder: nil))
    #expect(SecretFile.isOpenToOthers("/run/credentials/../token", status, folder: nil))
    status.st_mode = S_IFREG | 0o444
    #expect(SecretFile.isOpenToOthers("/run/credentials/httpcache.service/token", status, folder: nil))
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
