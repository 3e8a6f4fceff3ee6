package web_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/web"
)

// TestOrderWords: each language says everything, with as many places for values as the other.
func TestOrderWords(t *testing.T) {
	t.Parallel()
	english, german := reflect.ValueOf(web.OrderWordsIn(false)).Elem(), reflect.ValueOf(web.OrderWordsIn(true)).Elem()
	for i := range english.NumField() {
		name := english.Type().Field(i).Name
		if english.Field(i).Kind() == reflect.Map {
			for _, status := range english.Field(i).MapKeys() {
				require.NotEmpty(t, german.Field(i).MapIndex(status).String(), "%s of %s", name, status)
			}
			continue
		}
		one, other := english.Field(i).String(), german.Field(i).String()
		require.NotEmpty(t, one, name)
		require.NotEmpty(t, other, name)
		require.NotEqual(t, one, other, name)
		require.Equal(t, strings.Count(one, "%s"), strings.Count(other, "%s"), name)
	}
}
