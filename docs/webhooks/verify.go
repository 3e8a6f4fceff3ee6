// A receiver of webhooks: it verifies signatures, knows what it has seen, and
// answers at once.
//
//	WEBHOOK_SECRET=whsec_... PORT=9000 go run verify.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tolerance is how far a delivery's clock may be from ours: an old one that
// somebody sends again is refused.
const tolerance = 300 * time.Second

// verify says why a delivery is not from the service. The body is the raw one, as
// it came.
func verify(secret, header string, body []byte, now time.Time) error {
	var at string
	var signatures []string
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			at = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return errors.New("no time in the signature")
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > tolerance {
		return fmt.Errorf("the signature is %v old", age)
	}
	mac := hmac.New(sha256.New, []byte(secret)) // all of it, whsec_ too
	fmt.Fprintf(mac, "%s.%s", at, body)
	want := mac.Sum(nil)
	for _, s := range signatures {
		if got, err := hex.DecodeString(s); err == nil && hmac.Equal(got, want) { // in constant time
			return nil
		}
	}
	return errors.New("the signature is wrong")
}

// receiver takes deliveries in.
type receiver struct {
	secret string
	now    func() time.Time

	mu   sync.Mutex
	seen map[string]bool // a unique index of your database, in earnest
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
	if err == nil {
		err = verify(rc.secret, r.Header.Get("X-Service-Signature"), body, rc.now())
	}
	var event struct {
		ID, Type string
		Data     json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rc.mu.Lock()
	again := rc.seen[event.ID]
	rc.seen[event.ID] = true
	rc.mu.Unlock()
	if again {
		w.WriteHeader(http.StatusOK) // a retry: it was taken in before
		return
	}
	// Put the event into a queue of your own here, and work at it after the answer.
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	if os.Getenv("WEBHOOK_SECRET") == "" {
		fmt.Fprintln(os.Stderr, "WEBHOOK_SECRET is empty: anybody could sign with it")
		os.Exit(1)
	}
	server := http.Server{
		Addr:        "127.0.0.1:" + os.Getenv("PORT"),
		Handler:     &receiver{secret: os.Getenv("WEBHOOK_SECRET"), now: time.Now, seen: map[string]bool{}},
		ReadTimeout: 10 * time.Second,
	}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
}
