package web

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWords holds every list of words to this: each language says everything, with as many places for
// values as the other.
func TestWords(t *testing.T) {
	t.Parallel()
	lists := map[string][2]any{
		"frame":    {frames.english, frames.german},
		"order":    {orderWords.english, orderWords.german},
		"room":     {rooms.english, rooms.german},
		"trouble":  {troubles.english, troubles.german},
		"refusals": {mailedRefusals.english, mailedRefusals.german},
	}
	for i := range mailedPages {
		p := &mailedPages[i]
		lists[p.Path] = [2]any{p.words.english, p.words.german}
	}
	for list, in := range lists {
		holdAlike(t, list, reflect.ValueOf(in[0]), reflect.ValueOf(in[1]))
	}
}

func holdAlike(t *testing.T, name string, english, german reflect.Value) {
	t.Helper()
	switch english.Kind() { //nolint:exhaustive // words are nothing else
	case reflect.String:
		one, other := english.String(), german.String()
		require.Equal(t, one == "", other == "", name)
		if one != "" {
			require.NotEqual(t, one, other, name)
		}
		require.Equal(t, strings.Count(one, "%s"), strings.Count(other, "%s"), name)
		require.Equal(t, strings.Count(one, "#"), strings.Count(other, "#"), name)
	case reflect.Map:
		for _, key := range english.MapKeys() {
			require.True(t, german.MapIndex(key).IsValid(), "%s of %v", name, key)
			holdAlike(t, name, english.MapIndex(key), german.MapIndex(key))
		}
	case reflect.Struct:
		for i := range english.NumField() {
			holdAlike(t, name+" "+english.Type().Field(i).Name, english.Field(i), german.Field(i))
		}
	default:
		t.Fatalf("%s is a %s", name, english.Kind())
	}
}
