package rig

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
)

// Metrics are a node's numbers by name, of those without labels.
type Metrics map[string]float64

// ReadMetrics reads a node's metrics in the text format of Prometheus. Lines of comments and metrics with labels
// are left out.
func ReadMetrics(ctx context.Context, svc client.API, from *client.Source) (Metrics, error) {
	var resp fasthttp.Response
	if err := from.Do(ctx, &client.Request{Method: "GET", Host: svc.Host, Path: "/metrics"}, &resp); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := Metrics{}
	for lines := bufio.NewScanner(bytes.NewReader(resp.Body())); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.Contains(name, "{") {
			m[name] = v
		}
	}
	return m, nil
}
