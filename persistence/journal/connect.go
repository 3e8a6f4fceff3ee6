package journal

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// laneConfig makes the configuration of a lane's connection. The connection goes to a server that takes writes, is
// found dead within seconds, and plans the append in a way that suits tables of any size.
func laneConfig(cfg Config) *pgx.ConnConfig {
	c := cfg.Lane.Copy()
	maps.Copy(c.RuntimeParams, map[string]string{
		"application_name":  "boxoffice journal " + cfg.Node,
		"statement_timeout": strconv.FormatInt(cfg.StatementTimeout.Milliseconds(), 10),
		// Use one plan for all batches, by index. Otherwise, while its statistics still say that
		// the tables are empty, the planner scans all of streams or of a day.
		"plan_cache_mode":  "force_generic_plan",
		"enable_seqscan":   "off",
		"enable_mergejoin": "off",
		"random_page_cost": "1",
	})
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 2 * time.Second
	}
	if c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	keepAlive := net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3}
	dialer := &net.Dialer{Timeout: c.ConnectTimeout, KeepAliveConfig: keepAlive}
	c.DialFunc = dialer.DialContext
	if cfg.Valve != nil {
		c.DialFunc = cfg.Valve.Dial(c.DialFunc)
	}
	return c
}

// connect opens the lane's connection, checks the server's settings, and prepares the lane's statements. Prepared
// statements belong to a connection, so they are prepared on every new one.
func (l *lane) connect(ctx context.Context) error {
	cfg := l.j.cfg.Lane.Copy()
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			l.warning = n.Message
		}
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("journal: connect lane: %w", err)
	}
	l.conn = conn
	if !l.j.cfg.AllowUnsafe {
		if err := checkSafe(ctx, conn); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		name, sql string
		to        **pgconn.StatementDescription
	}{{"append_first", appendFirst, &l.first}, {"append_retry", appendRetry, &l.retry}, {"standing", standing, &l.standing}, {"batch_there", batchThere, &l.lookup}} {
		if *s.to, err = conn.PgConn().Prepare(ctx, s.name, s.sql, nil); err != nil {
			return fmt.Errorf("journal: prepare %s: %w", s.name, err)
		}
	}
	return nil
}

// checkSafe refuses a server that may forget commits which it has acknowledged.
func checkSafe(ctx context.Context, conn *pgx.Conn) error {
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
			return fmt.Errorf("journal: read %s: %w", setting, err)
		}
		if value == "off" {
			return fmt.Errorf("%w: %s is off", ErrUnsafe, setting)
		}
	}
	return nil
}

// reconnect opens a new connection, makes the lane ask about all its claims again (doubtClaims), and makes sure
// that the server still has the lane's last committed batch. After a failover to a standby that lagged behind,
// the server has lost its last commits, but it has all commits before them. A lane writes one batch after
// another, so it is enough to look for the last one. If that is gone, reconnect returns ErrLost.
func (l *lane) reconnect(ctx context.Context) error {
	if err := l.connect(ctx); err != nil {
		l.drop(ctx)
		return err
	}
	if err := l.doubtClaims(ctx); err != nil {
		l.drop(ctx)
		return err
	}
	if l.before.committed == 0 {
		return nil
	}
	there, err := l.isStored(ctx, l.before)
	if err != nil {
		l.drop(ctx)
		return err
	}
	if !there {
		return fmt.Errorf("%w: writer %d batch %d", ErrLost, l.writer, l.before.seq)
	}
	return nil
}

// unheard is more than the number of losses that a writer can have between two appends.
const unheard = 1000

// doubtClaims makes the lane ask about all its claims again. A server that lost commits may have lost claims as well,
// even if it has the lane's last batch. doubtClaims raises the writer's number of losses beyond any number that a
// claim can have brought, so that every stream counts as doubtful. The update commits, and so waits for the standby:
// afterwards everything that earlier attempts left is safe on the standby too. A mere look for a batch would not
// wait.
func (l *lane) doubtClaims(ctx context.Context) error {
	const raise = `UPDATE writers SET losses = greatest(losses, $2) + 1 WHERE writer = $1`
	l.losses += unheard // every time, because the server may forget this too
	l.warning = ""
	_, err := l.conn.Exec(ctx, raise, l.writer, l.losses)
	if err == nil && l.warning != "" {
		err = fmt.Errorf("server warns: %s", l.warning)
	}
	if err != nil {
		return fmt.Errorf("journal: doubt claims: %w", err)
	}
	return nil
}

// drop gives the connection up, even if the context has ended. A statement in flight may still take
// effect.
func (l *lane) drop(ctx context.Context) {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := l.conn.Close(ctx); err != nil {
		l.j.log.Debug("journal connection closed badly", slog.Any("error", err))
	}
	l.conn = nil
}
