package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Limits of second factors (docs/rules.md, Credentials).
const (
	challengeLife  = 5 * time.Minute // how long a sign-in waits for its second factor
	challengeTries = 5               // how many codes may be tried at a challenge
	// Somebody who knows the password can open any number of challenges, so the guesses of one-time
	// codes are counted for each user too. Recovery codes are not counted, because nobody can guess
	// them; they still let the user in.
	guessMax  = 10 // how many one-time codes may be guessed for a user in a GuessTime
	GuessTime = time.Hour
)

// These are the reasons why a second factor is refused.
var (
	// ErrTwoFactor says that the user has an active second factor already, has none that is active, or has
	// enrolled another secret in the meantime.
	ErrTwoFactor = errors.New("accounts: two-factor authentication is not in that state")
	// ErrChallengeOver says that a challenge can no longer be answered.
	ErrChallengeOver = errors.New("accounts: the challenge is over")
	// ErrGuesses says that too many wrong codes were tried.
	ErrGuesses = errors.New("accounts: too many wrong codes")
)

// Factor is a second factor that was shown: the step of a one-time code that was right, or the hash
// of a recovery code.
type Factor struct {
	Step     int64
	Recovery []byte // the hash of a recovery code; nil if a one-time code was shown
}

// Enroll stores the sealed secret of a second factor that is not active yet. It returns ErrTwoFactor if a
// second factor is active, and ErrUnproven for an account whose mailbox nobody has proven: if a stranger has
// registered the address, its owner could not get past the stranger's factor.
func (s *Store) Enroll(ctx context.Context, user int64, sealed []byte) error {
	return s.runUnlessActive(ctx, user, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE users SET totp_secret = $2, totp_step = 0, totp_wrong = 0 WHERE id = $1`, user, sealed)
		return err
	})
}

// runUnlessActive runs a step of an enrolment on the locked account of a user. It returns ErrTwoFactor
// if a second factor is active, and ErrUnproven as Enroll does.
func (s *Store) runUnlessActive(ctx context.Context, user int64, step func(tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var active, proven bool
		err := tx.QueryRow(ctx, `SELECT totp_active, email_verified FROM users WHERE id = $1 FOR NO KEY UPDATE`, user).Scan(&active, &proven)
		switch {
		case err != nil:
			return err
		case active:
			return ErrTwoFactor
		case !proven:
			return ErrUnproven
		}
		return step(tx)
	})
	if err != nil {
		return fmt.Errorf("enroll second factor: %w", err)
	}
	return nil
}

// Enrolled returns the sealed secret that waits to be activated, or nil.
func (s *Store) Enrolled(ctx context.Context, user int64) (sealed []byte, err error) {
	err = s.pool.QueryRow(ctx, `SELECT totp_secret FROM users WHERE id = $1 AND NOT totp_active`, user).Scan(&sealed)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("enrolled second factor: %w", err)
	}
	return sealed, nil
}

// Activate makes an enrolled second factor necessary from now on, and stores the hashes of its recovery codes.
// step is the time step of the code that has proven that the user's device has the secret. Activate returns
// ErrTwoFactor if sealed is not the secret that waits, and otherwise the errors of Enroll.
func (s *Store) Activate(ctx context.Context, user int64, sealed []byte, step int64, recovery [][]byte) error {
	return s.runUnlessActive(ctx, user, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE users SET totp_active = true, totp_step = $3 WHERE id = $1 AND totp_secret = $2`, user, sealed, step)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrTwoFactor
		}
		_, err = tx.Exec(ctx, `INSERT INTO recovery_codes (usr, hash) SELECT $1, unnest($2::bytea[])`, user, recovery)
		return err
	})
}

// Guess returns the sealed secret to check a one-time code with, and counts a guess. A right code sets the count
// to 0 (acceptCode). Guess returns ErrGuesses after too many guesses, and ErrTwoFactor if no second factor is
// active.
func (s *Store) Guess(ctx context.Context, user int64) (sealed []byte, err error) {
	err = s.pool.QueryRow(ctx, `UPDATE users SET
			totp_wrong = CASE WHEN totp_wrong_at > now() - $3::interval THEN totp_wrong + 1 ELSE 1 END,
			totp_wrong_at = CASE WHEN totp_wrong_at > now() - $3::interval THEN totp_wrong_at ELSE now() END
		WHERE id = $1 AND totp_active AND (totp_wrong < $2 OR totp_wrong_at <= now() - $3::interval) RETURNING totp_secret`,
		user, guessMax, GuessTime).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		u, err := s.User(ctx, user)
		if err == nil && (u == nil || !u.TwoFactor) {
			err = ErrTwoFactor
		}
		if err == nil {
			err = ErrGuesses
		}
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("guess a code: %w", err)
	}
	return sealed, nil
}

// acceptCode uses up a second factor. It returns ErrCodeInvalid for a recovery code that the user does not have, or
// no longer has, for a one-time code that is no newer than the last one used, and if no second factor is active. It
// locks the user.
func (f Factor) acceptCode(ctx context.Context, tx pgx.Tx, user int64) error {
	if f.Recovery != nil {
		if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE`, user); err != nil {
			return err
		}
		return requireOneRow(tx.Exec(ctx, `DELETE FROM recovery_codes WHERE usr = $1 AND hash = $2`, user, f.Recovery))
	}
	return requireOneRow(tx.Exec(ctx, `UPDATE users SET totp_step = $2, totp_wrong = 0 WHERE id = $1 AND totp_active AND totp_step < $2`, user, f.Step))
}

// UseFactor uses up a second factor for something that only the user may do. It returns ErrCodeInvalid as acceptCode
// does.
func (s *Store) UseFactor(ctx context.Context, user int64, f Factor) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return f.acceptCode(ctx, tx, user) })
	if err != nil {
		return fmt.Errorf("use a second factor: %w", err)
	}
	return nil
}

// Disable turns a user's second factor off and deletes its recovery codes. It uses up f; if acceptCode
// refuses f, nothing changes. Sign-ins that wait for a second factor have to begin again.
func (s *Store) Disable(ctx context.Context, user int64, f Factor) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := f.acceptCode(ctx, tx, user); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE users SET totp_active = false, totp_secret = NULL WHERE id = $1`, user); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM challenges WHERE usr = $1`, user); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM recovery_codes WHERE usr = $1`, user)
		return err
	})
	if err != nil {
		return fmt.Errorf("disable second factor: %w", err)
	}
	return nil
}

// OpenChallenge stores a sign-in that waits for its second factor, under the hash of the token that continues
// it. It returns ErrPasswordChanged if the password has changed since the caller checked it.
func (s *Store) OpenChallenge(ctx context.Context, hash [32]byte, in SignIn) error {
	tag, err := s.pool.Exec(ctx, `WITH u AS (SELECT id, email_verified FROM users WHERE id = $2 AND ($3 = '' OR password_hash = $3) FOR SHARE)
		INSERT INTO challenges (hash, usr, email_proven, expires_at) SELECT $1, id, $4 OR $3 <> '' AND email_verified, now() + $5::interval FROM u`,
		hash[:], in.User, in.PasswordHash, in.EmailProven, challengeLife)
	if err != nil {
		return fmt.Errorf("open challenge: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrPasswordChanged
	}
	return nil
}

// TryChallenge counts a try at a challenge and returns the challenge's user. It returns ErrChallengeOver if the
// challenge does not exist, has ended or has no tries left.
func (s *Store) TryChallenge(ctx context.Context, hash [32]byte) (user int64, err error) {
	err = s.pool.QueryRow(ctx, `UPDATE challenges SET tries = tries + 1 WHERE hash = $1 AND tries < $2 AND expires_at > now() RETURNING usr`,
		hash[:], challengeTries).Scan(&user)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrChallengeOver
	}
	if err != nil {
		return 0, fmt.Errorf("try challenge: %w", err)
	}
	return user, nil
}

// PassChallenge uses up a challenge and a second factor, and opens the session that waited for them. It returns
// ErrCodeInvalid for a factor that acceptCode refuses, and ErrChallengeOver for a challenge that was used before or
// has ended.
func (s *Store) PassChallenge(ctx context.Context, hash [32]byte, f Factor, in SignIn) (id uuid.UUID, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := f.acceptCode(ctx, tx, in.User); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `DELETE FROM challenges WHERE hash = $1 AND usr = $2 AND expires_at > now() RETURNING email_proven`,
			hash[:], in.User).Scan(&in.EmailProven)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrChallengeOver
		}
		if err != nil {
			return err
		}
		id, err = openSession(ctx, tx, in)
		return err
	})
	if err != nil {
		return id, fmt.Errorf("pass challenge: %w", err)
	}
	return id, nil
}

// requireOneRow returns ErrCodeInvalid unless a statement has changed exactly one row.
func requireOneRow(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() != 1 {
		return ErrCodeInvalid
	}
	return err
}
