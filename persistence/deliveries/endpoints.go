package deliveries

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// columns are in the order of Endpoint's fields, because rows are read by position.
const columns = `id, org, url, events, name, status, reason, secret, hint, created_at, updated_at`

// Create adds an active endpoint with e's Org, URL, Events, Name, Secret and Hint, or returns
// ErrTooMany. command is the key under which the client may repeat its request.
//
// A command may be repeated for a day. Its endpoint then gets the values of the repeated request, and a new
// secret. The secret must be new because only its sealed form is stored, so nobody could be told the old one.
// Create returns ErrGone if the endpoint has been deleted since, or is another organization's.
func (s *Store) Create(ctx context.Context, command [16]byte, e *Endpoint) (*Endpoint, error) {
	var made *Endpoint
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if err := admitEndpoint(ctx, tx, command, e.Org); err != nil {
			return err
		}
		made, err = queryEndpoint(ctx, tx, `INSERT INTO webhook_endpoints AS e (command, org, url, events, name, secret, hint)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (command) DO UPDATE SET url = excluded.url, events = excluded.events, name = excluded.name,
				secret = excluded.secret, hint = excluded.hint, updated_at = now()
			WHERE e.org = excluded.org AND e.status <> 'deleted' RETURNING `+columns,
			command, e.Org, e.URL, e.Events, e.Name, e.Secret, e.Hint)
		if err != nil {
			return err
		}
		// The condition of the update did not hold: the command's endpoint is deleted, or belongs
		// to another organization.
		if made == nil {
			return ErrGone
		}
		// A claim locks only this row, so it does not wait for a change of the endpoint itself.
		_, err = tx.Exec(ctx, `INSERT INTO webhook_leases (endpoint) VALUES ($1) ON CONFLICT DO NOTHING`, made.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create webhook endpoint: %w", err)
	}
	return made, nil
}

// admitEndpoint makes sure that the organization may have one more endpoint. It locks the
// organization's row until the transaction ends, so that only one Create of the organization counts
// endpoints at a time. The endpoint of the same command does not count, because a repeated command
// adds none.
func admitEndpoint(ctx context.Context, tx pgx.Tx, command [16]byte, org int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, org); err != nil {
		return err
	}
	// A command is forgotten after a day, so that a new one with the same key makes a new
	// endpoint.
	if _, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET command = NULL
		WHERE command = $1 AND created_at < now() - interval '24 hours'`, command); err != nil {
		return err
	}
	var others int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM webhook_endpoints
		WHERE org = $1 AND status <> 'deleted' AND command IS DISTINCT FROM $2`, org, command).Scan(&others)
	if err == nil && others >= MaxPerOrg {
		return ErrTooMany
	}
	return err
}

// List returns an organization's endpoints, the newest first.
func (s *Store) List(ctx context.Context, org int64) ([]*Endpoint, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM webhook_endpoints
		WHERE org = $1 AND status <> 'deleted' ORDER BY id DESC`, org) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Endpoint])
	if err != nil {
		return nil, fmt.Errorf("list webhook endpoints: %w", err)
	}
	return all, nil
}

// Get returns an endpoint of any organization, or nil if there is none. The caller must check the
// organization.
func (s *Store) Get(ctx context.Context, id int64) (*Endpoint, error) {
	return queryEndpoint(ctx, s.pool, `SELECT `+columns+` FROM webhook_endpoints WHERE id = $1 AND status <> 'deleted'`, id)
}

// Update changes an endpoint and returns it as changed, or nil if there is none. change may set
// URL, Events, Name, Status, Secret and Hint. It must do nothing that takes time, because the
// endpoint's row is locked while it runs. UpdatedAt stays if nothing changes.
//
// If an endpoint is disabled, the deliveries that wait for it are cancelled. An endpoint that is
// made active again starts afresh: nothing from before is sent, and its count of exhausted
// deliveries is 0.
func (s *Store) Update(ctx context.Context, id int64, change func(*Endpoint)) (*Endpoint, error) {
	var e *Endpoint
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		e, err = queryEndpoint(ctx, tx, `SELECT `+columns+` FROM webhook_endpoints WHERE id = $1 AND status <> 'deleted' FOR NO KEY UPDATE`, id)
		if err != nil || e == nil {
			return err
		}
		was := e.Status
		change(e)
		if e.Status != was {
			// Reason is only why the service disabled the endpoint. Here a person changes the
			// status.
			e.Reason = ""
			if err := cancelWaiting(ctx, tx, []int64{id}); err != nil {
				return err
			}
		}
		e, err = queryEndpoint(ctx, tx, `UPDATE webhook_endpoints SET url = $2, events = $3, name = $4, status = $5, reason = $6, secret = $7, hint = $8,
			exhausted = CASE WHEN status = $5 THEN exhausted ELSE 0 END,
			updated_at = CASE WHEN (url, events, name, status, reason, secret, hint)
				IS DISTINCT FROM ($2, $3, $4, $5, $6, $7, $8) THEN now() ELSE updated_at END
			WHERE id = $1 RETURNING `+columns,
			id, e.URL, e.Events, e.Name, e.Status, e.Reason, e.Secret, e.Hint)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update webhook endpoint: %w", err)
	}
	return e, nil
}

// Rotate gives an endpoint another secret. It signs what a deliverer loads from now on (Load). Rotate
// returns what Update returns.
func (s *Store) Rotate(ctx context.Context, id int64, secret []byte, hint string) (*Endpoint, error) {
	return s.Update(ctx, id, func(e *Endpoint) { e.Secret, e.Hint = secret, hint })
}

// Delete ends an endpoint: its waiting deliveries are cancelled and its secret is erased. The row
// itself stays until Prune, because its deliveries refer to it. Delete returns the endpoint as it
// was, or nil if there was none.
func (s *Store) Delete(ctx context.Context, id int64) (*Endpoint, error) {
	var was Endpoint
	e, err := s.Update(ctx, id, func(e *Endpoint) {
		was = *e
		e.Status, e.Secret, e.Hint = deleted, []byte{}, ""
	})
	if err != nil || e == nil {
		return nil, err
	}
	return &was, nil
}

// cancelWaiting cancels the waiting deliveries of some endpoints. The caller must have locked the
// rows of the endpoints: everything locks endpoints before deliveries, so that nothing deadlocks.
func cancelWaiting(ctx context.Context, tx pgx.Tx, endpoints []int64) error {
	_, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET status = 'cancelled', due = NULL
		WHERE endpoint = ANY ($1) AND due IS NOT NULL`, endpoints)
	return err
}

// queryEndpoint returns the one endpoint that a statement returns, or nil if it returns none. The statement must
// return the columns of the constant columns, in their order.
func queryEndpoint(ctx context.Context, q persistence.Querier, sql string, args ...any) (*Endpoint, error) {
	rows, _ := q.Query(ctx, sql, args...) // CollectOneRow returns its error
	e, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Endpoint])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no endpoint is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("webhook endpoint: %w", err)
	}
	return e, nil
}
