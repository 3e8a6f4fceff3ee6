package rooms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"boxoffice/engine/draw"
)

// Beacon fetches the rounds of a public randomness beacon, which decide draws. Nobody knows a round before its
// time, so nobody can arrange the list of entries to fit it. The zero Beacon has no rounds.
type Beacon struct {
	Chain draw.Chain
	// test signs the rounds of its own chain, which is only for tests and trials. Nil: all rounds are fetched.
	test *draw.TestBeacon
	urls []string // the addresses of relays, which are tried in turn
	http *http.Client
}

// TestBeacon returns a Beacon whose rounds this deployment signs itself. It proves nothing to
// anybody.
func TestBeacon(b *draw.TestBeacon) *Beacon { return &Beacon{Chain: b.Chain, test: b} }

// NewBeacon returns a Beacon whose rounds are fetched from drand relays.
func NewBeacon(chain *draw.Chain, urls []string) *Beacon {
	return &Beacon{Chain: *chain, urls: urls, http: &http.Client{Timeout: fetchTime}}
}

// These limit the request to one relay, so that a relay that hangs or sends too much cannot delay the draw.
const (
	fetchTime = 5 * time.Second // how long one relay may take
	maxRound  = 4 << 10         // how many bytes of a relay's answer are read
)

// fetchRound returns the signature of a round of a chain. No relay is trusted: the answer is
// verified by the chain's key, and if it is wrong or does not come, the next relay is asked.
func (b *Beacon) fetchRound(ctx context.Context, chain *draw.Chain, round uint64) ([]byte, error) {
	if b.test != nil && b.test.Chain.Hash == chain.Hash {
		return b.test.Sign(round), nil
	}
	errs := []error{fmt.Errorf("round %d of %s", round, chain.Hash)}
	for _, url := range b.urls {
		signature, err := b.fetchFrom(ctx, fmt.Sprintf("%s/%s/public/%d", url, chain.Hash, round))
		if err == nil {
			err = chain.Verify(round, signature)
		}
		if err == nil {
			return signature, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// fetchFrom asks one relay. It verifies nothing.
func (b *Beacon) fetchFrom(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d", url, resp.StatusCode)
	}
	var answer struct {
		Signature draw.Bytes `json:"signature"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxRound)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return answer.Signature, nil
}
