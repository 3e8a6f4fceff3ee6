package panics

import (
	"log/slog"
	"sync"
)

// DoEach runs an item of a job for each element of a list, at most atOnce at a time, and waits for
// all. A slow item does not hold up the others as long as there is room, and neither does an item
// that panics.
func DoEach[T any](log *slog.Logger, job string, list []T, atOnce int, do func(T)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, e := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			Do(log, job, func() { do(e) })
		})
	}
	wg.Wait()
}
