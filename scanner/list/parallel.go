package list

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls work(step) for each step from 0 to steps-1, in one goroutine per
// CPU. It returns ctx's error if ctx ends before it returns. newWorker returns the
// work function of one goroutine.
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
