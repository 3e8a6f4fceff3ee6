package requestlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/quota"
)

// FailuresKept is how long the request and the answer of a failed request are kept.
const FailuresKept = 24 * time.Hour

// MaxBody is the most bytes of one body that a Failure may have.
const MaxBody = 16 << 10

// These bound what a flood of failing requests makes a node write: 40 MB in a minute at most.
const (
	failuresOfKey  = 10  // in a minute, of one API key
	failuresOfOrg  = 30  // in a minute, of all keys of one organization
	failuresOfNode = 600 // in a minute, of all organizations
	failuresShare  = 2   // failures are kept while the organization has used at most 1/2 of its quota
)

// Failure is what a failed request sent and was answered, without secrets.
type Failure struct {
	Headers []Header `json:"headers"` // headers of the request that have no secrets
	Request *Body    `json:"request"` // body of the request; nil if it was no JSON
	Answer  *Body    `json:"answer"`  // body of the answer; nil if it was no JSON
}

// Header is one header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Body is the text of a body, up to MaxBody.
type Body struct {
	Text string `json:"text"`
	Cut  bool   `json:"cut"` // whether Text is only the beginning
}

// Vault seals failures for the table, because they contain names and addresses of people. A *secrets.Master is
// one.
type Vault interface {
	Seal(label string, context, text []byte) []byte
	Open(label string, context, sealed []byte) ([]byte, error)
}

// sealLabel separates what is sealed here from what is sealed elsewhere.
const sealLabel = "failed request"

// sealContext binds a failure to its row.
func sealContext(org int64, requestID string) []byte {
	return []byte(strconv.FormatInt(org, 10) + "/" + requestID)
}

// budget counts the failures of a minute.
type budget struct {
	mu     sync.Mutex
	minute int64 // unix minutes of the latest minute that was asked about
	all    int
	byOrg  map[int64]int
	byKey  map[int64]int
}

// KeepsFailure reports whether the log has room for one more failure of an organization's key in the minute of
// now, and counts that failure. Each key has a limit of its own, so that a key whose requests fail in a loop
// leaves room for the failures of the organization's other keys. Callers ask before they read any body.
func (l *Log) KeepsFailure(org, key int64, now time.Time) bool {
	b, minute := &l.budget, now.Unix()/60
	b.mu.Lock()
	defer b.mu.Unlock()
	if minute > b.minute || b.byOrg == nil { // a request that began in an earlier minute may ask later
		b.minute, b.all, b.byOrg, b.byKey = minute, 0, make(map[int64]int), make(map[int64]int)
	}
	if b.all >= failuresOfNode || b.byOrg[org] >= failuresOfOrg || b.byKey[key] >= failuresOfKey {
		return false
	}
	b.all++
	b.byOrg[org]++
	b.byKey[key]++
	return true
}

var failureColumns = []string{"org", "request_id", "key", "at", "sealed"}

// errNoRoom says that an organization has used so much of its quota that no failures are kept for it.
var errNoRoom = errors.New("requestlog: no room for failures")

// writeFailures copies the entries' failures into their table. It is called before the entries are written, so
// that a reader who sees an entry can open its failure. It has a time limit of its own, so that no entry is
// dropped because the quota answers slowly.
func (l *Log) writeFailures(ctx context.Context, entries []Entry) error {
	sealing, cancel := context.WithTimeout(ctx, writeTime)
	rows := l.sealFailures(sealing, entries)
	cancel()
	if len(rows) == 0 {
		return nil
	}
	return l.copyRows(ctx, "failed_requests", failureColumns, pgx.CopyFromRows(rows))
}

// sealFailures returns the rows of the entries' failures, and counts their bytes. It leaves out,
// and logs, those for which their organization has no room, and those that it can't encode or count.
func (l *Log) sealFailures(ctx context.Context, entries []Entry) (rows [][]any) {
	rooms := make(map[int64]error) // by organization; nil: there is room for its failures
	for i := range entries {
		e := &entries[i]
		if e.Failure == nil {
			continue
		}
		err, known := rooms[e.Org]
		if !known {
			err = l.findRoom(ctx, e)
			rooms[e.Org] = err
		}
		var text []byte
		if err == nil {
			text, err = encodeFailure(e.Failure)
		}
		if err == nil {
			err = l.cfg.Quota.Count(ctx, e.Org, int64(len(text)), e.At)
		}
		if err != nil {
			level := slog.LevelWarn
			if full := (*quota.Exceeded)(nil); errors.Is(err, errNoRoom) || errors.As(err, &full) {
				level = slog.LevelDebug // its organization has used up what it may
			}
			l.cfg.Log.Log(ctx, level, "a failed request is not kept", slog.String("request_id", e.RequestID), slog.Any("error", err))
			continue
		}
		rows = append(rows, []any{e.Org, e.RequestID, e.Key, e.At, l.cfg.Vault.Seal(sealLabel, sealContext(e.Org, e.RequestID), text)})
	}
	return rows
}

// findRoom returns errNoRoom if an entry's organization has used more than 1/failuresShare of what it may write
// in a day. A key that may only read can make requests fail, and must not use up the quota that other keys write
// with.
func (l *Log) findRoom(ctx context.Context, e *Entry) error {
	day, err := l.cfg.Quota.Look(ctx, e.Org, e.At)
	if err == nil && day != nil && day.Used > day.Most/failuresShare {
		return errNoRoom
	}
	return err
}

// encodeFailure writes a failure as JSON. It leaves <, > and & as they are, because each would take six bytes
// if it were escaped.
func encodeFailure(f *Failure) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(f)
	return b.Bytes(), err
}

// Failed is a failed request as it is read.
type Failed struct {
	Key     int64
	Failure Failure
}

// ReadFailure returns what is kept of an organization's failed request, or nil if nothing is.
func (l *Log) ReadFailure(ctx context.Context, org int64, requestID string) (*Failed, error) {
	var f Failed
	var sealed []byte
	const read = `SELECT key, sealed FROM failed_requests WHERE org = $1 AND request_id = $2 AND at > $3`
	err := l.cfg.Pool.QueryRow(ctx, read, org, requestID, l.cfg.Now().Add(-FailuresKept)).Scan(&f.Key, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing is kept of most requests
	}
	if err != nil {
		return nil, fmt.Errorf("read a failed request: %w", err)
	}
	text, err := l.cfg.Vault.Open(sealLabel, sealContext(org, requestID), sealed)
	if err == nil {
		err = json.Unmarshal(text, &f.Failure)
	}
	if err != nil {
		return nil, fmt.Errorf("open a failed request: %w", err)
	}
	return &f, nil
}
