package rush

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"boxoffice/loadtest/client"
)

// These are the sorts of entries in the AckLog.
const (
	// The service said that the order exists.
	AckPlaced = "placed"
	// The service told the order's status.
	AckStatus = "status"
	// The buyer is about to ask for a cancel. This is noted before the request, because the order
	// may be cancelled although no answer comes.
	AskCancel = "cancelling"
	// The payment provider took the money.
	ackPaid = "paid"
	// Nobody ever learnt the outcome of the request.
	AckUnresolved = "unresolved"

	// The shopper is about to ask for another selection of seats, or to order the present one.
	AskSeats = "asking"
	// The service told what the selection is.
	AckHeld = "held"
	// The service refused the order of the selection.
	AckRefused = "refused"
	// The shopper has gone without giving the selection back.
	LeftSeats = "left"
)

// Entry is one line of the AckLog. Fields that the service did not tell are empty.
type Entry struct {
	At    time.Time `json:"at"`
	What  string    `json:"what"`
	Buyer int       `json:"buyer"`
	// The Idempotency-Key of the placement.
	Key     string   `json:"key,omitempty"`
	Order   string   `json:"order,omitempty"`
	Token   string   `json:"token,omitempty"`
	Status  string   `json:"status,omitempty"`
	Total   string   `json:"total,omitempty"`
	Email   string   `json:"email,omitempty"`
	Items   []Item   `json:"items,omitempty"`
	Tickets []ticket `json:"tickets,omitempty"`
	// The seats of the selection, or of the order that was refused.
	Seats []string `json:"seats,omitempty"`
	// The moment when the selection ends by itself.
	Until time.Time `json:"until,omitzero"`
	// The code of the refusal.
	Code string `json:"code,omitempty"`
	// The number of the client address from which the buyer comes.
	From int `json:"from"`
}

// AckLog remembers what buyers were told, and only ever grows. It is the generator's side of the
// audit. An entry that the service cannot confirm afterwards is the worst finding there is:
// somebody was promised something that is lost.
type AckLog struct {
	mu      sync.Mutex
	entries []Entry
	file    *os.File
	out     *bufio.Writer
	err     error // the first failure to write
}

// CreateAckLog makes an empty log that is also written to a file, one JSON object on a line.
func CreateAckLog(path string) (*AckLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("ack log: %w", err)
	}
	return &AckLog{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

// Add appends an entry with the present time. An error of writing is kept for Close, because buyers
// must go on.
func (l *AckLog) Add(e Entry) {
	e.At = time.Now()
	// The entry is encoded before the lock is taken, because all buyers share the log.
	line, err := json.Marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	// The entry counts in memory also if it can't be written: the audit reads the entries, and the file is for
	// people.
	l.entries = append(l.entries, e)
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if l.err == nil && err != nil {
		l.err = err
	}
}

// Entries returns what has been appended so far. Entries are never changed, so the slice may be
// read without a lock.
func (l *AckLog) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.entries)
}

// Close makes the file durable and closes it. It returns the first error of writing.
func (l *AckLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.err, l.out.Flush(), l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("ack log: %w", err)
	}
	return nil
}

// Call returns the request that places the order of an entry, with the same key, so that it can be
// repeated.
func (e *Entry) Call() client.Call {
	return client.Call{
		Method: "POST", Path: "/orders", Key: e.Key, Body: Encode(PlaceOrder{Items: e.Items, GuestEmail: e.Email, GuestName: "Contender"}),
	}
}
