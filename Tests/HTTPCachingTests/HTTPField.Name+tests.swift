import HTTPCaching

extension HTTPField.Name {
  static var pragmaTest: HTTPField.Name { name("Pragma") }
  static var xN: HTTPField.Name { name("X-N") }

  private static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .accept }
}
