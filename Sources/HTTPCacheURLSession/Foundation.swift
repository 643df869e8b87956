// Every file of this module, and each program that imports this module, sees Foundation. On Linux, `URLSession` is in
// a module of its own.

@_exported public import Foundation
#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif
