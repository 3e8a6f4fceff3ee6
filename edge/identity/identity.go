// Package identity handles people and credentials: accounts, sessions, second factors, API keys and
// organizations. It also proves who sends a request.
//
// The node opens its Handlers once and mounts their Routes in the server, which calls Authenticate for every
// request. StartWatch starts the goroutine that follows changes on other nodes; Stop of the watch ends it.
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

// Deps are the stores and services that the handlers work with. All fields are set before Open.
type Deps struct {
	Accounts *accounts.Store
	APIKeys  *apikeys.Store
	Requests *requestlog.Log
	Replies  *idempotency.Store // the watch deletes old ones
	Mail     *mailqueue.Queue
	Hasher   *hasher.Hasher
	Secrets  *secrets.Master
	Eraser   *erasure.Eraser
	// Quota counts what an organization writes in a day.
	Quota *quota.Counter
	// FilesOf returns how many bytes an organization's files take, and the most that they may take.
	// This field and the two after it are functions, so that this package need not import the areas
	// that own files and money.
	FilesOf func(ctx context.Context, org int64) (used, most int64, err error)
	// ListBalances returns an organization's wallets.
	ListBalances func(ctx context.Context, org int64) ([]api.Wallet, error)
	// CheckFiles refuses a request that names a file which the organization does not have.
	CheckFiles func(c *route.Call, org int64, in any) error
	Env        string // live or test
	Log        *slog.Logger
}

// Handlers answer the area's requests and find out who sends a request. Any goroutine may call their methods.
type Handlers struct {
	Deps
	// signing holds the keys that sign access tokens, as last read from the table.
	signing signing
	// proofs are the results of checked credentials, by the SHA-256 of the credential. No plaintext credential
	// stays in memory.
	proofs *ristretto.Cache[string, *proof]
	// changes holds what changed lately. A proof that is older than a change of what it rests on is made again.
	changes changes
	// used holds the uses of API keys that the watch has still to write.
	used uses
}

// Open makes the handlers. The caller must call Close, which ends the goroutines of their cache.
func Open(d Deps) (*Handlers, error) {
	h := &Handlers{Deps: d}
	h.changes.at = xsync.NewMap[string, time.Time]()
	var err error
	// Each proof costs 1, so MaxCost is the largest number of proofs. The authors of the cache recommend ten
	// counters for each entry.
	h.proofs, err = ristretto.NewCache(&ristretto.Config[string, *proof]{
		NumCounters: 10 * proofMax, MaxCost: proofMax, BufferItems: 64, IgnoreInternalCost: true,
	})
	return h, err
}

// Close ends the cache of proofs.
func (h *Handlers) Close() { h.proofs.Close() }
