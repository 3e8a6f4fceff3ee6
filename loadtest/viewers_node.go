package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
)

// What runs with viewers wait for.
const (
	settleMemory = 2 * time.Second // before a node's memory is read
	joinTime     = 2 * time.Minute // for all viewers to come
	holdGrace    = 5 * time.Second // by which a hold may outlive its time
)

// viewersEnv is the environment of a node that so many viewers and other clients
// are to be let in to.
func viewersEnv(viewers, others int) []string {
	return []string{
		fmt.Sprintf("BOXOFFICE_MAX_VIEWERS=%d", viewers+10),
		fmt.Sprintf("BOXOFFICE_MAX_VIEWERS_PER_ADDRESS=%d", viewers+10),
		fmt.Sprintf("BOXOFFICE_MAX_CONNS=%d", viewers+others+50),
		fmt.Sprintf("BOXOFFICE_MAX_CONNS_PER_ADDRESS=%d", viewers+others),
		"BOXOFFICE_LOG_LEVEL=WARN",
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// metrics are a node's numbers by name, of those without labels.
type metrics map[string]float64

// scrape reads a node's metrics.
func scrape(ctx context.Context, svc client.API, from *client.Source) (metrics, error) {
	var resp fasthttp.Response
	if err := from.Do(ctx, &client.Request{Method: "GET", Host: svc.Host, Path: "/metrics"}, &resp); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := metrics{}
	for lines := bufio.NewScanner(bytes.NewReader(resp.Body())); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.Contains(name, "{") {
			m[name] = v
		}
	}
	return m, nil
}
