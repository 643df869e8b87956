import HTTPCacheCommand

await HTTPCacheCommand.main()
