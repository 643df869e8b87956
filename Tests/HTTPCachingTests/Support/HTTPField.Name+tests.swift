import HTTPCaching

extension HTTPField.Name {
  static var pragmaTest: HTTPField.Name { name("Pragma") }
  static var xN: HTTPField.Name { name("X-N") }

  static var cacheStatus: HTTPField.Name { name("Cache-Status") }
  static var clearSiteData: HTTPField.Name { name("Clear-Site-Data") }
  static var reprDigest: HTTPField.Name { name("Repr-Digest") }
  static var noVarySearch: HTTPField.Name { name("No-Vary-Search") }

  private static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .accept }
}
