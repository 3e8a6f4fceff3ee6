package identity_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// What a key may be given is what rows of the route table may ask for.
func TestKeysTakeEveryScope(t *testing.T) {
	t.Parallel()
	for _, request := range []reflect.Type{reflect.TypeFor[api.CreateAPIKey](), reflect.TypeFor[api.UpdateAPIKey]()} {
		f, ok := request.FieldByName("Scopes")
		require.True(t, ok)
		require.Equal(t, route.AllScopes.Names(), strings.Split(f.Tag.Get("enum"), ","), request.Name())
	}
}
