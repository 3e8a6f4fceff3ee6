package codec_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/paged"
	"boxoffice/persistence/codec"
)

// TestFactTables checks the kinds' lists of facts.
func TestFactTables(t *testing.T) {
	t.Parallel()
	names := make(map[string]engine.Kind)
	kinds := make(map[engine.Kind]bool)
	for _, kind := range all.Kinds {
		require.False(t, kinds[kind.Kind], "kind %s is listed twice", kind.Kind)
		kinds[kind.Kind] = true
		numbers := make(map[engine.FactType]bool)
		for _, def := range kind.Facts {
			require.False(t, numbers[def.Type], "%s: number %d is used twice", kind.Kind, def.Type)
			numbers[def.Type] = true
			require.NotContains(t, names, def.Name)
			names[def.Name] = kind.Kind
			require.NotZero(t, def.Type)
			require.False(t, def.Type.Volatile(), "%s is volatile: it is not journaled", def.Name)
			require.Equal(t, def.Type, def.New().FactType(), def.Name)
			require.NotSame(t, def.New(), def.New(), def.Name)
		}
	}
}

// TestFactsRoundTrip encodes and decodes every journaled fact, with all fields set and with none.
func TestFactsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range all.Kinds {
		var want []engine.Fact
		var b []byte
		for _, def := range kind.Facts {
			for _, f := range []engine.Fact{def.New(), sample(def)} {
				var err error
				b, err = codec.AppendFact(b, f)
				require.NoError(t, err)
				want = append(want, f)
			}
		}
		got, err := codec.Facts(kind.Kind, b)
		require.NoError(t, err)
		require.Equal(t, want, got)

		for n := 0; len(b) > 0; n++ {
			typ, body, rest, err := codec.Split(b)
			require.NoError(t, err)
			require.Equal(t, want[n].FactType(), typ)
			require.NotEmpty(t, body)
			b = rest
		}
	}
}

// TestFactsNumbered makes sure that every field of every fact and snapshot has a number of its own;
// a field without a number would be encoded by name.
func TestFactsNumbered(t *testing.T) {
	t.Parallel()
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			requireNumbered(t, reflect.TypeOf(def.New()).Elem())
		}
		requireNumbered(t, reflect.TypeOf(kind.Frozen()).Elem())
	}
}

func requireNumbered(t *testing.T, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) {
		return
	}
	requireNumberedFields(t, typ, make(map[string]string))
}

// requireNumberedFields does so for the fields of a struct and of those that it embeds, among which
// the numbers in seen are taken.
func requireNumberedFields(t *testing.T, typ reflect.Type, seen map[string]string) {
	t.Helper()
	for f := range typ.Fields() {
		tag := f.Tag.Get("cbor")
		if f.Anonymous && tag == "" {
			requireNumberedFields(t, f.Type, seen)
			continue
		}
		require.Regexp(t, `^[1-9][0-9]*,keyasint(,omitempty|,omitzero)?$`, tag, "%s.%s", typ, f.Name)
		require.True(t, f.IsExported(), "%s.%s", typ, f.Name)
		number := tag[:len(tag)-len(",keyasint")]
		require.NotContains(t, seen, number, "%s.%s has the number of another field", typ, f.Name)
		seen[number] = f.Name
		requireNumbered(t, f.Type)
	}
}

// TestFactsRefuse gives the decoder bytes that AppendFact did not write.
func TestFactsRefuse(t *testing.T) {
	t.Parallel()
	kind := all.Kinds[0]
	good, err := codec.AppendFact(nil, sample(kind.Facts[0]))
	require.NoError(t, err)
	for name, b := range map[string][]byte{
		"cut short":        good[:len(good)-1],
		"a tail":           append(append([]byte{}, good...), 7),
		"no type":          {0},
		"an unknown type":  {3, 0xe7, 0x06, 0xa0}, // 871
		"a volatile type":  {3, 0xe9, 0x07, 0xa0}, // 1001
		"no map":           {2, byte(kind.Facts[0].Type), 0x01},
		"an endless type":  {2, 0xff, 0xff},
		"an endless size":  {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a map cut short":  {3, byte(kind.Facts[0].Type), 0xa1, 0x01},
		"more than a map":  {4, byte(kind.Facts[0].Type), 0xa0, 0xa0, 0xa0},
		"a map without it": {3, byte(kind.Facts[0].Type), 0xa1},
	} {
		_, err := codec.Facts(kind.Kind, b)
		require.Error(t, err, name)
	}
	_, err = codec.Facts(99, good)
	require.Error(t, err, "a kind that there is not")
}

// FuzzFacts decodes hostile bytes. What can be decoded can be encoded again, with the same result.
func FuzzFacts(f *testing.F) {
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			b, err := codec.AppendFact(nil, sample(def))
			require.NoError(f, err)
			f.Add(uint8(kind.Kind), b)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		facts, err := codec.Facts(engine.Kind(kind), b)
		if err != nil {
			return
		}
		var again []byte
		for _, fact := range facts {
			again, err = codec.AppendFact(again, fact)
			require.NoError(t, err)
		}
		facts, err = codec.Facts(engine.Kind(kind), again)
		require.NoError(t, err)
		var same []byte
		for _, fact := range facts {
			same, err = codec.AppendFact(same, fact)
			require.NoError(t, err)
		}
		require.Equal(t, again, same)
	})
}

// sample returns a fact with every field set, always to the same values.
func sample(def engine.FactDef) engine.Fact {
	f := def.New()
	n := int64(def.Type) * 1_000
	fill(reflect.ValueOf(f).Elem(), &n)
	return f
}

// filled returns a column of numbers.
func filled[T any](n *int64) []T {
	var numbers []T
	*n-- // does not count the column itself
	fill(reflect.ValueOf(&numbers).Elem(), n)
	return numbers
}

// fill sets all fields below v to values that tell them apart.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() { //nolint:exhaustive // facts have no other fields
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if page, ok := reflect.TypeAssert[*paged.TextPage](v.Addr()); ok {
			var texts paged.Strings
			*n--
			fill(reflect.ValueOf(&texts).Elem(), n)
			*page = paged.NewTextPage(texts)
			return
		}
		switch column := v.Addr().Interface().(type) {
		case *paged.Field[int64]:
			*column = paged.NewField(filled[int64](n))
			return
		case *paged.Field[uint64]:
			*column = paged.NewField(filled[uint64](n))
			return
		}
		for f, field := range v.Fields() {
			if f.Anonymous && f.Tag.Get("cbor") == "" {
				*n-- // an embedded struct has no number of its own
			}
			fill(field, n)
		}
	case reflect.Slice:
		if _, paged := reflect.TypeAssert[json.Marshaler](v); paged { // decoding makes one page
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			v = v.Index(0)
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			if !v.Index(i).CanUint() {
				fill(v.Index(i), n)
				continue
			}
			v.Index(i).SetUint(uint64(*n+int64(i)) & 0xff)
		}
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	default:
		if v.CanUint() {
			v.SetUint(uint64(*n) & 0xff)
			return
		}
		v.SetInt(*n & 0x7f)
	}
}
