import HTTPCacheCommand

HTTPCacheCommand.openMissingStreams()
await HTTPCacheCommand.main()
