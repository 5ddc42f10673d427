package list

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls work for every step below steps, on all CPUs, until ctx is done.
// newWorker returns the function that one goroutine calls.
func inParallel(ctx context.Context, steps int, newWorker func() func(step int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			work := newWorker()
			for ctx.Err() == nil {
				step := int(next.Add(1)) - 1
				if step >= steps {
					return
				}
				work(step)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}
