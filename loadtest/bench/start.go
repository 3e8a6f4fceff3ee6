package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"boxoffice/loadtest/rush"
)

// startAt is how large the program is, and how long it takes to be ready.
type startAt struct {
	Megabytes float64 `json:"megabytes"` // as it is released: without tables for debuggers
	Ready     float64 `json:"ready_ms"`  // from the start to the first request that is answered, on data that is there
}

// measureStart builds the program as it is released, and starts a node again on the data of a sale.
func (b *bench) measureStart(ctx context.Context) error {
	at := &startAt{}
	b.result.Start = at
	released := filepath.Join(b.dir, "released")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", released, "./cmd/boxoffice")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false") // as deploy/Dockerfile does
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	file, err := os.Stat(released)
	if err != nil {
		return fmt.Errorf("the released program: %w", err)
	}
	at.Megabytes = round(float64(file.Size()) / 1e6)
	sale, err := b.sale(ctx, rush.SaleType{Quantity: plenty})
	if err != nil {
		return err
	}
	if _, err := b.ordersCase(ctx, "orders before a start", []*rush.Sale{sale}); err != nil {
		return err
	}
	if err := b.node.Process.End(syscall.SIGTERM); err != nil {
		return err
	}
	began := time.Now()
	if err := b.node.Start(ctx, 20*time.Second); err != nil {
		return err
	}
	at.Ready = round(float64(time.Since(began).Microseconds()) / 1000)
	say("the program: %.0f MB (goal: 45), ready %.0f ms after its start on data that is there (goal: 1000)", at.Megabytes, at.Ready)
	return nil
}
