package gates

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// witnesses hear from outside what happens at the gates. They listen to the live stream and, if the
// node is the run's own and may therefore send webhooks to this machine, to webhooks.
type witnesses struct {
	receiver *rush.Receiver // nil: there are no webhooks
	stop     context.CancelFunc
	watching sync.WaitGroup

	mu    sync.Mutex
	shown counters // the counters that the stream has shown last
}

// callWitnesses makes the witnesses watch from now on. The stream ends when the node is killed, so
// the watcher opens it again until the run stops it.
func (e *evening) callWitnesses(ctx context.Context, target string) (*witnesses, error) {
	w := &witnesses{}
	if e.node != nil {
		w.receiver = rush.StartReceiver()
		if err := w.receiver.AddEndpoint(ctx, e.organizer, rush.Healthy, rush.Admitted); err != nil {
			return nil, errors.Join(err, w.receiver.Close(ctx))
		}
	}
	watch, stop := context.WithCancel(ctx)
	w.stop = stop
	stream := strings.TrimSuffix(target, "/") + "/api/v1/checkin/event/" + url.PathEscape(e.event) + "/live"
	w.watching.Go(func() {
		for watch.Err() == nil {
			_ = w.readStream(watch, stream, e.organizer.Bearer) // a killed node comes back
			rig.Wait(watch, 100*time.Millisecond)
		}
	})
	return w, nil
}

// readStream reads the live stream to its end, and keeps only the newest counters: every event of
// the stream has all of them.
func (w *witnesses) readStream(ctx context.Context, stream, bearer string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, stream, http.NoBody)
	if err != nil {
		return fmt.Errorf("watch the gates: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	var client http.Client
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("watch the gates: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // the body has been read to its end
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data:")
		if !is {
			continue
		}
		var shows counters
		if err := json.Unmarshal([]byte(data), &shows); err != nil {
			return fmt.Errorf("watch the gates: %w", err)
		}
		w.mu.Lock()
		w.shown = shows
		w.mu.Unlock()
	}
	return lines.Err() //nolint:wrapcheck // nobody looks at it
}

// close stops the watcher and waits for it, and then closes the receiver of webhooks.
func (w *witnesses) close(ctx context.Context) error {
	w.stop()
	w.watching.Wait()
	if w.receiver == nil {
		return nil
	}
	return w.receiver.Close(ctx)
}

// compareSums waits until the witnesses agree with the service, or their time is over. Both may be
// late, because streams and webhooks are sent after an admission is durable. Only what still
// differs at the end is a finding.
func (w *witnesses) compareSums(ctx context.Context, stats *counters, admissions map[string]int, within time.Duration) []report.Check {
	stream := report.Check{Name: "the live stream shows the gates' counters", Checked: int64(len(stats.Gates))}
	hooks := report.Check{Name: "webhooks tell of every admission", Checked: int64(len(admissions))}
	for deadline := time.Now().Add(within); ; rig.Wait(ctx, 50*time.Millisecond) {
		w.mu.Lock()
		shown := w.shown
		w.mu.Unlock()
		told := admissions
		if w.receiver != nil {
			told = w.receiver.EndpointsThat(rush.Healthy)[0].Admissions()
		}
		same, all := reflect.DeepEqual(shown, *stats), maps.Equal(told, admissions)
		if same && all {
			break
		}
		if time.Now().Before(deadline) && ctx.Err() == nil {
			continue
		}
		if !same {
			stream.Found("it shows %+v, and the counters are %+v", shown, *stats)
		}
		if !all {
			hooks.Found("%d tickets were told of, and %d admitted", len(told), len(admissions))
		}
		break
	}
	if w.receiver == nil {
		return []report.Check{stream}
	}
	return []report.Check{stream, hooks}
}
