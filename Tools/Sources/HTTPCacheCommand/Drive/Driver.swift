import Foundation
import HTTPCaching
import Synchronization

/// Performs one line after the other through a door and writes the replies.
final class Driver: Sendable {
  private let door: any DriveDoor
  /// One reply after the other: a pipe may take a long one in pieces.
  private let turn = Mutex(())

  init(_ door: any DriveDoor) { self.door = door }

  func perform(_ line: String) async {
    let drive: DriveRequest
    do {
      drive = try JSONDecoder().decode(DriveRequest.self, from: Data(line.utf8))
    } catch {
      let id = try? JSONDecoder().decode(DriveRequest.Identity.self, from: Data(line.utf8)).id
      write(DriveReply(id: id ?? 0, error: "\(DriveRequest.Invalid(decoding: error))"))
      return
    }
    do {
      write(try await door.reply(to: drive))
    } catch is UpstreamError {
      // As a proxy answers: the origin cannot be reached, and no stored response may be used.
      write(DriveReply(id: drive.id, status: 504, headers: [], body: "", interim: []))
    } catch {
      write(DriveReply(id: drive.id, error: "\(error)"))
    }
  }

  private func write(_ reply: DriveReply) {
    guard let line = try? JSONEncoder().encode(reply) else { return }
    turn.withLock { _ in Console.current.output(String(decoding: line, as: UTF8.self) + "\n") }
  }
}
