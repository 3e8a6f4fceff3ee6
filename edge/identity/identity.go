// Package identity is the area of people and credentials: accounts, sessions, second
// factors, API keys and organizations, and the proof of who sends a request.
package identity

import (
	"context"
	"log/slog"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/edge/api"
	"boxoffice/edge/erasure"
	"boxoffice/edge/hasher"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/requestlog"
)

// Deps is what the handlers work with.
type Deps struct {
	Accounts *accounts.Store
	APIKeys  *apikeys.Store
	Requests *requestlog.Log
	Replies  *idempotency.Store // the watch deletes old ones
	Mail     *mailqueue.Queue
	Hasher   *hasher.Hasher
	Secrets  *secrets.Master
	Eraser   *erasure.Eraser
	Quota    *quota.Counter
	// FilesOf returns how many bytes an organization's files take, and the most that they may.
	FilesOf func(ctx context.Context, org int64) (used, most int64, err error)
	// ListBalances returns an organization's wallets.
	ListBalances func(ctx context.Context, org int64) ([]api.Wallet, error)
	// CheckFiles refuses a request that names a file which the organization does not have.
	CheckFiles func(c *route.Call, org int64, in any) error
	Env        string // live or test
	Log        *slog.Logger
}

// Handlers answer the area's requests, and find out who sends a request. They may be called by any
// goroutine.
type Handlers struct {
	Deps
	signing signing
	proofs  *ristretto.Cache[string, *proof]
	changes changes
	used    uses
}

// Open makes the handlers. Close ends their cache.
func Open(d Deps) (*Handlers, error) {
	h := &Handlers{Deps: d}
	h.changes.at = xsync.NewMap[string, time.Time]()
	var err error
	h.proofs, err = ristretto.NewCache(&ristretto.Config[string, *proof]{
		NumCounters: 10 * proofMax, MaxCost: proofMax, BufferItems: 64, IgnoreInternalCost: true,
	})
	return h, err
}

// Close ends the cache of proofs.
func (h *Handlers) Close() { h.proofs.Close() }
