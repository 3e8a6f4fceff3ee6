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

// What an entry of the AckLog says.
const (
	AckPlaced     = "placed"     // the service said that the order exists
	AckStatus     = "status"     // the service said what has become of it
	AskCancel     = "cancelling" // the buyer is about to ask for a cancel
	ackPaid       = "paid"       // the payment provider took the money
	AckUnresolved = "unresolved" // nobody ever learnt the outcome of the request

	AskSeats   = "asking"  // the shopper is about to ask for another selection, or to order it
	AckHeld    = "held"    // the service said what the selection is
	AckRefused = "refused" // the service refused the order of the selection
	LeftSeats  = "left"    // the shopper has gone without giving the selection back
)

// Entry is one line of the AckLog. Fields that the service did not tell are empty.
type Entry struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Buyer   int       `json:"buyer"`
	Key     string    `json:"key,omitempty"` // Idempotency-Key of the placement
	Order   string    `json:"order,omitempty"`
	Token   string    `json:"token,omitempty"`
	Status  string    `json:"status,omitempty"`
	Total   string    `json:"total,omitempty"`
	Email   string    `json:"email,omitempty"`
	Items   []Item    `json:"items,omitempty"`
	Tickets []ticket  `json:"tickets,omitempty"`
	Seats   []string  `json:"seats,omitempty"` // of the selection, or of the order refused
	Until   time.Time `json:"until,omitzero"`  // when the selection ends
	Code    string    `json:"code,omitempty"`  // why the order was refused
	From    int       `json:"from"`            // number of the client address
}

// AckLog is the append-only memory of what buyers were told. It is the
// generator's side of the audit: an entry that the service cannot confirm
// afterwards is the worst finding there is.
type AckLog struct {
	mu      sync.Mutex
	entries []Entry
	file    *os.File
	out     *bufio.Writer
	err     error // the first failure to write
}

// CreateAckLog makes an empty log that is also written to path, a JSON object
// per line.
func CreateAckLog(path string) (*AckLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("ack log: %w", err)
	}
	return &AckLog{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

// Add appends an entry.
func (l *AckLog) Add(e Entry) {
	e.At = time.Now()
	line, err := json.Marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if l.err == nil && err != nil {
		l.err = err
	}
}

// Entries are what has been appended so far; they are never changed.
func (l *AckLog) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.entries)
}

// Close makes the file durable and closes it.
func (l *AckLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.err, l.out.Flush(), l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("ack log: %w", err)
	}
	return nil
}

// Call is the request that places the order of the entry.
func (e *Entry) Call() client.Call {
	return client.Call{
		Method: "POST", Path: "/orders", Key: e.Key, Body: Encode(PlaceOrder{Items: e.Items, GuestEmail: e.Email, GuestName: "Contender"}),
	}
}
