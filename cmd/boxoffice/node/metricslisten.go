package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// metricsAtOnce bounds the scrapes at a time; a further one is answered 503.
	metricsAtOnce = 4
	// metricsWithin bounds one scrape, from its first byte to its last.
	metricsWithin = 10 * time.Second
)

// startMetrics serves /metrics on a listener of its own, if BOXOFFICE_METRICS_LISTEN is set. That listener is for
// Prometheus, at an address that buyers cannot reach.
func (n *Node) startMetrics(ctx context.Context) error {
	if n.cfg.MetricsListen == "" {
		return nil
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.MetricsListen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_METRICS_LISTEN: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{MaxRequestsInFlight: metricsAtOnce}))
	srv := &http.Server{
		Handler: mux, ReadTimeout: time.Second, WriteTimeout: metricsWithin, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10,
	}
	n.metricsAddr = ln.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // ends with Close
	}()
	n.started(func(context.Context) error {
		err := srv.Close()
		<-done
		return err
	})
	return nil
}
