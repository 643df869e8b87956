@_exported public import HTTPCacheDisk
@_exported public import HTTPCacheSemantics
@_exported public import HTTPCacheStore
@_exported public import HTTPTypes
