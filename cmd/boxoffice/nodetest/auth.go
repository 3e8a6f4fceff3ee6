package nodetest

import (
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// ClaimsOf reads the claims of an access token. It does not check the signature, because tests look
// at what the node wrote.
func ClaimsOf(t testing.TB, token string) jwt.MapClaims {
	t.Helper()
	c := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(token, c)
	require.NoError(t, err)
	return c
}
