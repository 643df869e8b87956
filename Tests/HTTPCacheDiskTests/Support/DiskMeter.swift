import Foundation

/// Measures the usage of a directory on disk.
enum DiskMeter {
  /// The bytes of a folder with all files and folders below it, as `du` counts them.
  static func taken(below root: String) -> Int64 {
    var seen: Set<UInt64> = []
    func size(_ path: String) -> Int64 {
      var status = stat()
      guard lstat(path, &status) == 0, seen.insert(UInt64(status.st_ino)).inserted else { return 0 }
      return Int64(status.st_blocks) * 512
    }
    var sum = size(root)
    let files = FileManager.default.enumerator(atPath: root)
    while let name = files?.nextObject() as? String { sum += size(root + "/" + name) }
    return sum
  }

  /// The files below a folder that contain these bytes.
  static func files(below root: String, containing text: String) -> [String] {
    let wanted = Data(text.utf8)
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    return names.filter { name in
      guard let data = FileManager.default.contents(atPath: root + "/" + name) else { return false }
      return data.range(of: wanted) != nil
    }
  }
}
