// Fresh hits of github.com/gregjones/httpcache: peer memory|disk ORIGIN FOLDER prints a line
// `store|µs of 1 KiB|µs of 1 MiB`. Each hit reads the whole body; the first request fills the cache.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"time"

	"github.com/gregjones/httpcache"
	"github.com/gregjones/httpcache/diskcache"
)

func main() {
	store, origin, folder := os.Args[1], os.Args[2], os.Args[3]
	var cache httpcache.Cache = httpcache.NewMemoryCache()
	if store == "disk" {
		cache = diskcache.New(folder + "/go-httpcache")
	}
	client := httpcache.NewTransport(cache).Client()
	line := store
	for _, size := range []int64{1024, 1 << 20} {
		url := fmt.Sprintf("%s/size/%d/go-%s", origin, size, store)
		get := func() time.Duration {
			start := time.Now()
			response, err := client.Get(url)
			check(err)
			count, err := io.Copy(io.Discard, response.Body)
			check(err)
			check(response.Body.Close())
			if response.StatusCode != http.StatusOK || count != size {
				check(fmt.Errorf("%d with %d bytes", response.StatusCode, count))
			}
			return time.Since(start)
		}
		get()
		once := get()
		calls := int(120*time.Millisecond/once) + 3
		var rounds []float64
		for round := 0; round < 5; round++ {
			start := time.Now()
			for call := 0; call < calls; call++ {
				get()
			}
			rounds = append(rounds, float64(time.Since(start).Nanoseconds())/float64(calls)/1000)
		}
		sort.Float64s(rounds)
		line += fmt.Sprintf("|%.1f", rounds[2])
	}
	fmt.Println(line)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
