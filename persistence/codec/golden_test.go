package codec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/all"
	"boxoffice/persistence/codec"
)

// version is the number of the golden file with today's bytes. A release that adds fields adds a
// file. The files of earlier releases stay as they are, and must be readable for as long as their
// facts are in journals.
const version = 16

var rewrite = flag.Bool("rewrite", false, "write today's golden file instead of comparing it")

// TestGoldenToday makes sure that nobody changes the bytes by accident. If you have added a field,
// it fails: raise version, and write the new file.
func TestGoldenToday(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			f := sample(def)
			bytes, err := codec.AppendFact(nil, f)
			require.NoError(t, err)
			golden(t, &b, kind.Kind.String()+" "+def.Name, bytes, f)
		}
		frozen := kind.Frozen()
		n := int64(1)
		fill(reflect.ValueOf(frozen).Elem(), &n)
		bytes, err := codec.Marshal(frozen)
		require.NoError(t, err)
		golden(t, &b, kind.Kind.String()+" snapshot", bytes, frozen)
	}
	file := filepath.Join("testdata", fmt.Sprintf("v%d.txt", version))
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "a field was added, or another changed: docs/CONTRIBUTING.md, The next CBOR key")
}

// golden writes a value's name, its bytes and its fields, one line each.
func golden(t *testing.T, b *strings.Builder, name string, encoded []byte, v any) {
	t.Helper()
	fields, err := json.Marshal(v)
	require.NoError(t, err)
	fmt.Fprintf(b, "%s\n%s\n%s\n", name, hex.EncodeToString(encoded), fields)
}

// TestGoldenEver decodes what every release so far has written: the fields that the release knew
// must have the values that it wrote.
func TestGoldenEver(t *testing.T) {
	t.Parallel()
	for v := 1; v <= version; v++ {
		file, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.txt", v)))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimRight(string(file), "\n"), "\n")
		require.Zero(t, len(lines)%3)
		for i := 0; i < len(lines); i += 3 {
			encoded, err := hex.DecodeString(lines[i+1])
			require.NoError(t, err)
			requireDecodes(t, lines[i], encoded, []byte(lines[i+2]))
		}
	}
}

func requireDecodes(t *testing.T, name string, encoded, fields []byte) {
	t.Helper()
	kindName, what, _ := strings.Cut(name, " ")
	for _, kind := range all.Kinds {
		if kind.Kind.String() != kindName {
			continue
		}
		var got any
		if what == "snapshot" {
			got = kind.Frozen()
			require.NoError(t, codec.Unmarshal(encoded, got), name)
		} else {
			facts, err := codec.Facts(kind.Kind, encoded)
			require.NoError(t, err, name)
			require.Len(t, facts, 1, name)
			got = facts[0]
		}
		known := reflect.New(reflect.TypeOf(got).Elem()).Interface()
		strict := json.NewDecoder(bytes.NewReader(fields))
		strict.DisallowUnknownFields() // a field may be added, not renamed or dropped
		require.NoError(t, strict.Decode(known), name)
		require.Equal(t, known, got, name)
		return
	}
	t.Errorf("%s: no such kind", name)
}
