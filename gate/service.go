package gate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"
)

// errAway means that the service is away or too busy. errUnsent means in addition that the service
// cannot have got the request, so it has decided nothing.
var (
	errAway   = errors.New("the service does not answer")
	errUnsent = fmt.Errorf("%w: no connection", errAway)
)

// mostBytes bounds the bytes of an answer that are read. The manifest of a large event is the
// largest answer.
const mostBytes = 64 << 20

// verdict is the service's verdict on a scan. Two different requests are answered with it.
type verdict struct {
	Status  string    `json:"status"`
	Reason  *string   `json:"deniedReason"`
	Gate    *string   `json:"firstGate"`
	At      time.Time `json:"checkedInAt"`      // in the answer to a scan
	FirstAt time.Time `json:"firstCheckedInAt"` // in the answer to a batch
	LeftAt  time.Time `json:"leftAt"`           // of an exit
}

// told returns what is kept of the service's verdict on the scan with a number, at the present time of the device's
// clock. A verdict that names a gate also says when the ticket was there.
func (d *Device) told(number int, v *verdict) Told {
	t := Told{Number: number, When: d.cfg.Now(), Verdict: Verdict{Status: v.Status}}
	if v.Reason != nil {
		t.Reason = *v.Reason
	}
	if v.Gate != nil {
		t.FirstGate, t.FirstAt = *v.Gate, cmp.Or(v.FirstAt, v.At, v.LeftAt)
	}
	return t
}

// askService asks the service to judge one scan. A text that no ticket can have as its code is denied. A code
// that the service does not look at because it gets too many (RATE_LIMITED) is undecided.
func (d *Device) askService(ctx context.Context, scan *Scan) (*Told, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	body := map[string]string{"gateName": d.cfg.Gate, "deviceId": d.cfg.Name}
	path := "/checkin/scan"
	if d.cfg.Typed && (isFull(scan.Code) || isDoor(scan.Code)) {
		path = "/checkin/event/" + url.PathEscape(d.cfg.Event) + "/manual"
		body["ticketCode"] = scan.Code
	} else {
		body["eventId"], body["qrData"] = d.cfg.Event, scan.Code
	}
	if scan.Out {
		body["direction"] = "out"
	}
	var v verdict
	_, err := d.exchange(ctx, http.MethodPost, path, scan.Request, body, &v)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		switch {
		case refused.isOfCode():
			v, err = verdict{Status: WrongEvent}, nil
		case refused.Code == "RATE_LIMITED":
			v, err = verdict{Status: Undecided, Reason: &refused.Message}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	t := d.told(scan.Number, &v)
	return &t, nil
}

// sendBatch asks the service to judge scans that were decided earlier. The verdicts come in the
// same order.
func (d *Device) sendBatch(ctx context.Context, scans []*Scan) ([]Told, error) {
	type queued struct {
		QRData     string    `json:"qrData,omitempty"`
		TicketCode string    `json:"ticketCode,omitempty"`
		ScannedAt  time.Time `json:"scannedAt"`
		GateName   string    `json:"gateName"`
		DeviceID   string    `json:"deviceId"`
		Direction  string    `json:"direction,omitempty"`
	}
	body := struct {
		EventID string   `json:"eventId"`
		Scans   []queued `json:"scans"`
	}{EventID: d.cfg.Event}
	for _, s := range scans {
		q := queued{QRData: s.Code, ScannedAt: s.At, GateName: d.cfg.Gate, DeviceID: d.cfg.Name}
		if isFull(s.Code) || d.cfg.Typed && isDoor(s.Code) {
			q.QRData, q.TicketCode = "", s.Code
		}
		if s.Out {
			q.Direction = "out"
		}
		body.Scans = append(body.Scans, q)
	}
	var answer struct {
		Results []verdict `json:"results"`
	}
	if _, err := d.exchange(ctx, http.MethodPost, "/checkin/batch", "", body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != len(scans) {
		return nil, fmt.Errorf("gate: a batch of %d scans has %d verdicts", len(scans), len(answer.Results))
	}
	told := make([]Told, len(scans))
	for i := range scans {
		told[i] = d.told(scans[i].Number, &answer.Results[i])
	}
	return told, nil
}

// askManifest asks the service for what has changed since a cursor, or for the whole manifest if the cursor is empty. It
// also returns the service's time, or the zero time if the answer has no date.
func (d *Device) askManifest(ctx context.Context, cursor string) (*Manifest, time.Time, error) {
	query := url.Values{"deviceId": {d.cfg.Name}}
	if cursor != "" {
		query.Set("since", cursor)
	}
	m := new(Manifest)
	header, err := d.exchange(ctx, http.MethodGet, "/checkin/event/"+url.PathEscape(d.cfg.Event)+"/manifest?"+query.Encode(), "", nil, m)
	if err != nil {
		return nil, time.Time{}, err
	}
	date, _ := http.ParseTime(header.Get("Date")) // without the header the clock's offset stays as it is
	return m, date, nil
}

// refusal is a definite answer of the service that gives no verdict.
type refusal struct {
	Status  int             `json:"-"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details"`
}

// issue is one mistake in a request.
type issue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// listIssues returns the mistakes that a refusal names.
func (r *refusal) listIssues() []issue {
	var details struct {
		Issues []issue `json:"issues"`
	}
	if r.Code != "VALIDATION_ERROR" || json.Unmarshal(r.Details, &details) != nil {
		return nil
	}
	return details.Issues
}

// isOfCode reports whether the service found fault with nothing but the scanned code, so no ticket
// has such a code. A mistake in what the device says about itself is no verdict on a ticket.
func (r *refusal) isOfCode() bool {
	all := r.listIssues()
	return len(all) > 0 && !slices.ContainsFunc(all, func(i issue) bool { return i.Path != "qrData" && i.Path != "ticketCode" })
}

// Error returns what the service says, with all mistakes.
func (r *refusal) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "the service says %d %s: %s", r.Status, r.Code, r.Message)
	for _, i := range r.listIssues() {
		fmt.Fprintf(&text, " %s %s.", i.Path, i.Message)
	}
	return text.String()
}

// exchange sends a request and reads the data of its answer. The error wraps errAway if the service may answer
// when it is asked again, and a *refusal if the service refuses.
func (d *Device) exchange(ctx context.Context, method, path, request string, body, data any) (http.Header, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("gate: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.cfg.URL+path, content)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+d.cfg.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if request != "" {
		req.Header.Set("Idempotency-Key", request)
	}
	// When a kept connection breaks, net/http repeats a request that has an Idempotency-Key by itself. So the service may
	// have got the request although no connection can be made now, unless there was none before either.
	connected := false
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}))
	res, err := d.cfg.Client.Do(req)
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" && !connected {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	defer func() { _ = res.Body.Close() }() // the body has been read
	text, err := io.ReadAll(io.LimitReader(res.Body, mostBytes))
	if err != nil || res.StatusCode >= http.StatusInternalServerError {
		return nil, errors.Join(fmt.Errorf("%w: status %d", errAway, res.StatusCode), err)
	}
	var envelope struct {
		Data  any     `json:"data"`
		Error refusal `json:"error"`
	}
	envelope.Data, envelope.Error.Status = data, res.StatusCode
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: status %d", errAway, res.StatusCode), err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("gate: %w", &envelope.Error)
	}
	return res.Header, nil
}
